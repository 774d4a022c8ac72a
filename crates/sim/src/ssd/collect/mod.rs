pub(crate) mod victim;
