//! How an NVMe drive can be erased: SANICAP, FNA, and the sanitize status log page (Base
//! Specification 2.1, figure 291).

use std::time::Duration;

use writecliff_device::Purge;

use super::identify::{Controller, Namespace};
use crate::bytes::Fields;
use crate::facts::PurgeOffer;
use crate::port::{AdminPort, Data, NvmeCommand};

const SANITIZE_STATUS: u8 = 0x81;

/// What became of the last sanitize, and how long the next takes.
pub(crate) struct SanitizeStatus {
    pub(crate) state: SanitizeState,
    overwrite: Option<Duration>,
    block: Option<Duration>,
    crypto: Option<Duration>,
}

/// How the last sanitize stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SanitizeState {
    Never,
    Done,
    /// At so many of 65,536.
    UnderWay {
        progress: u16,
    },
    /// The drive refuses I/O.
    Failed,
}

impl SanitizeStatus {
    fn parse(page: Fields<'_>) -> Self {
        let time = |at| match page.u32(at) {
            0 | u32::MAX => None,
            seconds => Some(Duration::from_secs(seconds.into())),
        };
        Self {
            state: match page.byte(2) & 7 {
                1 | 4 => SanitizeState::Done,
                2 => SanitizeState::UnderWay { progress: page.u16(0) },
                3 => SanitizeState::Failed,
                _ => SanitizeState::Never,
            },
            overwrite: time(8),
            block: time(12),
            crypto: time(16),
        }
    }

    /// The longest that any kind of it takes by the drive's own word.
    pub(crate) fn longest(&self) -> Option<Duration> {
        [self.overwrite, self.block, self.crypto].into_iter().flatten().max()
    }

    fn hindrance(&self) -> Option<String> {
        match self.state {
            SanitizeState::UnderWay { progress } => {
                let percent = u32::from(progress) * 100 / 65_536;
                Some(format!(
                    "a sanitize is under way, at {percent} %: nothing stops it, and `writecliff \
                     purge` waits for its end"
                ))
            }
            SanitizeState::Failed => Some(
                "the last sanitize failed, and the drive refuses I/O until that is left or another \
                 succeeds: `writecliff purge` does that"
                    .to_owned(),
            ),
            SanitizeState::Never | SanitizeState::Done => None,
        }
    }
}

/// `None` if the drive does not tell.
pub(crate) fn sanitize_status(port: &mut dyn AdminPort) -> Option<SanitizeStatus> {
    let mut page = [0; 512];
    let command = NvmeCommand::log_page(SANITIZE_STATUS, NvmeCommand::ALL_NAMESPACES, page.len());
    port.nvme(command, Data::FromDrive(&mut page)).ok()?;
    Some(SanitizeStatus::parse(Fields(&page)))
}

/// The best first.
pub(super) fn offers(
    controller: &Controller,
    space: &Namespace,
    spaces: Option<usize>,
    status: Option<&SanitizeStatus>,
) -> Vec<PurgeOffer> {
    let others = match spaces {
        Some(0 | 1) => None,
        Some(count) => Some(format!("it erases all {count} namespaces of the drive")),
        None => Some("it erases all namespaces, and the drive does not tell how many".to_owned()),
    };
    let under_way = status.and_then(SanitizeStatus::hindrance);
    let time = |of: fn(&SanitizeStatus) -> Option<Duration>| status.and_then(of);
    let sanitize = |kind, time| {
        let hindrances = under_way.iter().chain(&others).cloned().collect();
        PurgeOffer { kind, time, hindrances }
    };
    let format = |kind| {
        let of_all = controller.format_is_of_all || controller.erasure_is_of_all;
        let hindrances = others.iter().filter(|_| of_all).cloned().collect();
        PurgeOffer { kind, time: None, hindrances }
    };
    let can_format = controller.can_format && !space.formats.is_empty();
    let all = [
        (controller.can_sanitize_block(), sanitize(Purge::SanitizeBlock, time(|s| s.block))),
        (controller.can_sanitize_crypto(), sanitize(Purge::SanitizeCrypto, time(|s| s.crypto))),
        (can_format, format(Purge::Format)),
        (can_format && controller.has_crypto_erase, format(Purge::FormatCrypto)),
        (
            controller.can_sanitize_overwrite(),
            sanitize(Purge::SanitizeOverwrite, time(|s| s.overwrite)),
        ),
        (
            controller.can_deallocate,
            PurgeOffer { kind: Purge::Discard, time: None, hindrances: Vec::new() },
        ),
    ];
    all.into_iter().filter_map(|(is_there, offer)| is_there.then_some(offer)).collect()
}
