//! How an ATA drive can be erased: words 59, 89, 90, 128 and 169 of its identity.

use writecliff_device::Purge;

use super::identify::Identity;
use crate::facts::{PurgeOffer, Security};

/// The best first.
pub(super) fn offers(drive: &Identity) -> Vec<PurgeOffer> {
    let locked = drive.security.filter(|security| security.locked).map(|_| {
        "the drive is locked: unlock it with its password, or erase it with its master password"
            .to_owned()
    });
    let plain =
        |kind| PurgeOffer { kind, time: None, hindrances: locked.iter().cloned().collect() };
    let secure = |kind, time| PurgeOffer {
        kind,
        time,
        hindrances: drive.security.map_or_else(Vec::new, in_the_way),
    };
    let has_security = drive.security.is_some();
    let all = [
        (drive.can_sanitize_block(), plain(Purge::AtaSanitizeBlock)),
        (drive.can_sanitize_crypto(), plain(Purge::AtaSanitizeCrypto)),
        (
            has_security && drive.can_erase_enhanced,
            secure(Purge::AtaSecureEraseEnhanced, drive.enhanced_erase_time),
        ),
        (has_security, secure(Purge::AtaSecureErase, drive.erase_time)),
        (drive.can_sanitize_overwrite(), plain(Purge::AtaSanitizeOverwrite)),
        (drive.has_trim, plain(Purge::Discard)),
    ];
    all.into_iter().filter_map(|(is_there, offer)| is_there.then_some(offer)).collect()
}

/// What keeps a drive from taking a secure erase.
fn in_the_way(security: Security) -> Vec<String> {
    let all = [
        (
            security.frozen,
            "frozen: plug its power out and in again while the system runs, or send the system to \
             sleep and wake it",
        ),
        (security.enabled, "a password is set: it is needed to erase, or to be taken away first"),
        (security.count_expired, "too many wrong passwords: switch its power off and on"),
    ];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, words)| words.to_owned()).collect()
}
