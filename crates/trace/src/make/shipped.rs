//! The plans that come with the program.

/// A plan that comes with the program.
#[derive(Debug, Clone, Copy)]
pub struct ShippedPlan {
    /// What to call it by.
    pub name: &'static str,
    /// The plan as TOML: every number has its source in a comment.
    pub text: &'static str,
}

/// The plans that come with the program.
pub const PLANS: [ShippedPlan; 3] = [
    ShippedPlan { name: "heavy-2011", text: include_str!("../../plans/heavy-2011.toml") },
    ShippedPlan { name: "light-2011", text: include_str!("../../plans/light-2011.toml") },
    ShippedPlan { name: "destroyer-2013", text: include_str!("../../plans/destroyer-2013.toml") },
];
