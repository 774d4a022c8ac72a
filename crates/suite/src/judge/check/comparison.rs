//! A published figure beside the model's.

use serde::Serialize;

use super::published::{Kind, Published};
use super::quantity::Measured;

/// How far the model may be from a rating, as a factor.
pub const RATING_TOLERANCE: f64 = 1.1;

/// A published figure and the model's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What was published.
    #[serde(flatten)]
    pub figure: Published,
    /// What it says of the model.
    pub role: Role,
    /// What the model does, in the figure's unit.
    pub model: f64,
    /// By what factor that is off; see [`Published::error_factor`].
    pub error_factor: f64,
}

/// What a figure is to the profile of its drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The maker's word: fitted to.
    Rating,
    /// Behaviour that the profile says it was fitted to (`identity.fitted`), or that it was fitted to
    /// by hand ([`Kind::Fitted`]).
    Fitted,
    /// All else: the model's own word.
    Predicted,
}

impl Comparison {
    pub(super) fn new(figure: &Published, is_fitted: bool, measured: Measured) -> Self {
        let model = measured.in_unit(figure.unit);
        let role = match figure.kind {
            Kind::Rating => Role::Rating,
            Kind::Fitted => Role::Fitted,
            Kind::Measured if is_fitted => Role::Fitted,
            Kind::Measured => Role::Predicted,
        };
        let error_factor = figure.error_factor(model);
        Self { figure: figure.clone(), role, model, error_factor }
    }

    /// Whether a rating is missed.
    pub fn fails(&self) -> bool {
        // 1 / 0.90909 is a little more than 1.1.
        self.role == Role::Rating && self.error_factor > RATING_TOLERANCE * 1.000_001
    }
}
