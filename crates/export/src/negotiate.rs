//! Which export a client uses, and how: fixed newstyle negotiation, without input or output.

use crate::wire::option::{Asked, ClientFlags, Contexts, NoOption, Said, parse, reply};
use crate::wire::reply::BASE_ALLOCATION;
use crate::wire::request::{Agreed, PAYLOAD_MAX};

const HAS_FLAGS: u16 = 1 << 0;
const SEND_FLUSH: u16 = 1 << 2;
const SEND_FUA: u16 = 1 << 3;
const ROTATIONAL: u16 = 1 << 4;
const SEND_TRIM: u16 = 1 << 5;
const SEND_WRITE_ZEROES: u16 = 1 << 6;
const SEND_DF: u16 = 1 << 7;
const CAN_MULTI_CONN: u16 = 1 << 8;
const SEND_CACHE: u16 = 1 << 10;
const SEND_FAST_ZERO: u16 = 1 << 11;

const INFO_EXPORT: u16 = 0;
const INFO_NAME: u16 = 1;
const INFO_DESCRIPTION: u16 = 2;
const INFO_BLOCK_SIZE: u16 = 3;

/// The one metadata context, and what contexts of the protocol's own begin with.
const CONTEXT: &[u8] = b"base:allocation";
const CONTEXTS: &[u8] = b"base:";

/// An export, as far as a client is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) capacity: u64,
    pub(crate) block_min: u32,
    pub(crate) block_preferred: u32,
    pub(crate) rotational: bool,
    pub(crate) trims: bool,
    /// Whether it can be used now.
    pub(crate) has_power: bool,
}

/// How far a client is.
#[derive(Debug)]
pub(crate) struct Haggling {
    flags: ClientFlags,
    structured: bool,
    /// The export that `base:allocation` was chosen of.
    context_of: Option<usize>,
}

/// What follows on an option.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// This answer, and another option.
    GoOn(Vec<u8>),
    /// This answer, and requests.
    Serve { answer: Vec<u8>, export: usize, agreed: Agreed },
    /// This answer, and nothing more.
    End(Vec<u8>),
}

impl Haggling {
    pub(crate) fn new(flags: ClientFlags) -> Self {
        Self { flags, structured: false, context_of: None }
    }

    /// Answers an option; the first export is the one without a name, too.
    pub(crate) fn answer(&mut self, option: u32, data: &[u8], exports: &[Offer]) -> Step {
        let say = |said, text: &str| Step::GoOn(reply(option, said, text.as_bytes()));
        let asked = match parse(option, data) {
            Ok(asked) => asked,
            Err(NoOption::Unsupported) => return say(Said::Unsupported, "no such option here"),
            Err(NoOption::Invalid) => {
                return say(Said::Invalid, "the option's data are not in order");
            }
        };
        match asked {
            Asked::Abort => Step::End(reply(option, Said::Ack, &[])),
            Asked::List => Step::GoOn(list(option, exports)),
            Asked::StructuredReply => {
                self.structured = true;
                say(Said::Ack, "")
            }
            Asked::ListMetaContext(asked) => self.contexts(option, &asked, exports, false),
            Asked::SetMetaContext(asked) => self.contexts(option, &asked, exports, true),
            Asked::ExportName(name) => match find(exports, name) {
                Some(export) if exports[export].has_power => self.serve_by_name(export, exports),
                // There is no way to tell why not.
                _ => Step::End(Vec::new()),
            },
            Asked::Info { name } | Asked::Go { name } => {
                let Some(export) = find(exports, name) else {
                    return say(Said::Unknown, &no_such(name, exports));
                };
                let offer = &exports[export];
                if !offer.has_power {
                    return say(Said::Shutdown, "the simulated drive has no power");
                }
                let answer = self.information(option, offer);
                match asked {
                    Asked::Go { .. } => {
                        Step::Serve { answer, export, agreed: self.agreed(export, offer) }
                    }
                    _ => Step::GoOn(answer),
                }
            }
        }
    }

    fn serve_by_name(&self, export: usize, exports: &[Offer]) -> Step {
        let offer = &exports[export];
        let mut answer = offer.capacity.to_be_bytes().to_vec();
        answer.extend(self.transmission_flags(offer).to_be_bytes());
        if !self.flags.no_zeroes {
            answer.extend([0; 124]);
        }
        Step::Serve { answer, export, agreed: self.agreed(export, offer) }
    }

    /// Everything about an export, whatever of it was asked for.
    fn information(&self, option: u32, offer: &Offer) -> Vec<u8> {
        let info = |kind: u16, data: &[u8]| {
            reply(option, Said::Info, &[&kind.to_be_bytes()[..], data].concat())
        };
        let flags = self.transmission_flags(offer).to_be_bytes();
        let export = [&offer.capacity.to_be_bytes()[..], &flags].concat();
        let sizes = [offer.block_min, offer.block_preferred, PAYLOAD_MAX];
        let sizes = sizes.map(u32::to_be_bytes).concat();
        [
            info(INFO_EXPORT, &export),
            info(INFO_NAME, offer.name.as_bytes()),
            info(INFO_DESCRIPTION, offer.description.as_bytes()),
            info(INFO_BLOCK_SIZE, &sizes),
            reply(option, Said::Ack, &[]),
        ]
        .concat()
    }

    fn contexts(
        &mut self,
        option: u32,
        asked: &Contexts<'_>,
        exports: &[Offer],
        choose: bool,
    ) -> Step {
        let say = |said, text: &str| Step::GoOn(reply(option, said, text.as_bytes()));
        if choose {
            self.context_of = None;
        }
        if !self.structured {
            return say(Said::Invalid, "structured replies come first");
        }
        let Some(export) = find(exports, asked.export) else {
            return say(Said::Unknown, &no_such(asked.export, exports));
        };
        let names_all = !choose && asked.queries.is_empty();
        let is_meant = |query: &[u8]| query == CONTEXT || (!choose && query == CONTEXTS);
        let ack = reply(option, Said::Ack, &[]);
        if !names_all && !asked.queries.iter().any(|query| is_meant(query)) {
            return Step::GoOn(ack);
        }
        if choose {
            self.context_of = Some(export);
        }
        let context = [&BASE_ALLOCATION.to_be_bytes()[..], CONTEXT].concat();
        Step::GoOn([reply(option, Said::MetaContext, &context), ack].concat())
    }

    fn transmission_flags(&self, offer: &Offer) -> u16 {
        let always = HAS_FLAGS
            | SEND_FLUSH
            | SEND_FUA
            | SEND_WRITE_ZEROES
            | SEND_FAST_ZERO
            | SEND_CACHE
            | CAN_MULTI_CONN;
        let given = |flag, is_given| if is_given { flag } else { 0 };
        always
            | given(ROTATIONAL, offer.rotational)
            | given(SEND_TRIM, offer.trims)
            | given(SEND_DF, self.structured)
    }

    fn agreed(&self, export: usize, offer: &Offer) -> Agreed {
        Agreed {
            capacity: offer.capacity,
            block_min: offer.block_min,
            trims: offer.trims,
            structured: self.structured,
            block_status: self.context_of == Some(export),
        }
    }
}

fn list(option: u32, exports: &[Offer]) -> Vec<u8> {
    let mut answer = Vec::new();
    for Offer { name, description, .. } in exports {
        let length = (name.len() as u32).to_be_bytes();
        let data = [&length[..], name.as_bytes(), description.as_bytes()].concat();
        answer.extend(reply(option, Said::Server, &data));
    }
    answer.extend(reply(option, Said::Ack, &[]));
    answer
}

fn find(exports: &[Offer], name: &str) -> Option<usize> {
    if name.is_empty() {
        return (!exports.is_empty()).then_some(0);
    }
    exports.iter().position(|offer| offer.name == name)
}

fn no_such(name: &str, exports: &[Offer]) -> String {
    let names: Vec<&str> = exports.iter().map(|offer| offer.name.as_str()).collect();
    let shown: String = name.chars().take(64).collect();
    format!(
        "there is no export '{}'; there are {}",
        writecliff_device::printable(&shown),
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const GO: u32 = 7;
    const INFO: u32 = 6;

    fn offers() -> Vec<Offer> {
        let offer = |name: &str, has_power| Offer {
            name: name.to_owned(),
            description: "simulated".to_owned(),
            capacity: 1 << 20,
            block_min: 512,
            block_preferred: 4096,
            rotational: false,
            trims: true,
            has_power,
        };
        vec![offer("evo", true), offer("dark", false)]
    }

    fn haggling() -> Haggling {
        Haggling::new(ClientFlags { no_zeroes: true })
    }

    fn named(name: &str) -> Vec<u8> {
        [&(name.len() as u32).to_be_bytes()[..], name.as_bytes(), &[0, 0]].concat()
    }

    fn contexts(export: &str, queries: &[&str]) -> Vec<u8> {
        let string =
            |text: &&str| [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
        let count = (queries.len() as u32).to_be_bytes().to_vec();
        let queries: Vec<u8> = queries.iter().flat_map(string).collect();
        [string(&export), count, queries].concat()
    }

    /// What the replies to an option say, by their numbers.
    fn said(step: &Step) -> Vec<u32> {
        let (Step::GoOn(bytes) | Step::End(bytes) | Step::Serve { answer: bytes, .. }) = step;
        let (mut rest, mut said) = (&bytes[..], Vec::new());
        while let [_, _, _, _, _, _, _, _, _, _, _, _, a, b, c, d, e, f, g, h, data @ ..] = rest {
            said.push(u32::from_be_bytes([*a, *b, *c, *d]));
            rest = &data[u32::from_be_bytes([*e, *f, *g, *h]) as usize..];
        }
        assert!(rest.is_empty());
        said
    }

    #[test]
    fn go_tells_all_about_an_export_and_uses_it() {
        let step = haggling().answer(GO, &named("evo"), &offers());
        assert_eq!(said(&step), [3, 3, 3, 3, 1]);
        let Step::Serve { export: 0, agreed, answer } = step else { panic!("{step:?}") };
        assert!(!agreed.structured && !agreed.block_status);
        // HAS_FLAGS, FLUSH, FUA, TRIM, WRITE_ZEROES, CAN_MULTI_CONN, CACHE, FAST_ZERO; no DF.
        assert_eq!(answer[20..32], [0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0x0d, 0x6d]);
        assert_eq!(said(&haggling().answer(INFO, &named(""), &offers())), [3, 3, 3, 3, 1]);
    }

    #[test]
    fn an_export_that_is_not_there_or_has_no_power_is_told_apart() {
        let unknown = haggling().answer(GO, &named("nope"), &offers());
        assert_eq!(said(&unknown), [Said::Unknown as u32]);
        let dark = haggling().answer(GO, &named("dark"), &offers());
        assert_eq!(said(&dark), [Said::Shutdown as u32]);
        assert_eq!(haggling().answer(1, b"dark", &offers()), Step::End(Vec::new()));
    }

    #[test]
    fn export_name_ends_with_zeros_unless_they_are_declined() {
        for (no_zeroes, length) in [(true, 10), (false, 134)] {
            let step = Haggling::new(ClientFlags { no_zeroes }).answer(1, b"", &offers());
            let Step::Serve { answer, .. } = step else { panic!("{step:?}") };
            assert_eq!(answer.len(), length);
        }
    }

    #[test]
    fn contexts_need_structured_replies_and_hold_for_their_export() {
        const SET: u32 = 10;
        let mut client = haggling();
        let too_early = client.answer(SET, &contexts("evo", &["base:allocation"]), &offers());
        assert_eq!(said(&too_early), [Said::Invalid as u32]);
        assert_eq!(said(&client.answer(8, b"", &offers())), [1]);
        let chosen = client.answer(SET, &contexts("evo", &["x", "base:allocation"]), &offers());
        assert_eq!(said(&chosen), [4, 1]);
        let step = client.answer(GO, &named(""), &offers());
        let Step::Serve { agreed, .. } = step else { panic!("{step:?}") };
        assert!(agreed.structured && agreed.block_status);
        // Chosen anew, it is nothing.
        assert_eq!(said(&client.answer(SET, &contexts("evo", &["base:"]), &offers())), [1]);
        let step = client.answer(GO, &named(""), &offers());
        let Step::Serve { agreed, .. } = step else { panic!("{step:?}") };
        assert!(!agreed.block_status);
    }

    #[test]
    fn all_contexts_are_named_to_whoever_names_none() {
        let mut client = haggling();
        client.answer(8, b"", &offers());
        for (queries, expected) in
            [(&[][..], &[4, 1][..]), (&["base:"], &[4, 1]), (&["qemu:"], &[1])]
        {
            assert_eq!(said(&client.answer(9, &contexts("", queries), &offers())), expected);
        }
    }

    #[test]
    fn exports_are_listed_and_what_is_unknown_goes_on() {
        assert_eq!(said(&haggling().answer(3, b"", &offers())), [2, 2, 1]);
        assert_eq!(said(&haggling().answer(5, b"", &offers())), [Said::Unsupported as u32]);
        assert_eq!(said(&haggling().answer(2, b"", &offers())), [1]);
    }
}
