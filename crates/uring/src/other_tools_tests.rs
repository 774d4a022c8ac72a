//! The other tools as they are installed here, and stand-ins that misbehave.

use super::*;
