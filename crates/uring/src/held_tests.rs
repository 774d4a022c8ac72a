//! Files as applications write them.

use super::*;
