//! What a column is called, and what may stand in it.

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};

use crate::ColumnError;

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// What it is called.
    pub name: String,
    /// What stands in it.
    pub kind: Kind,
    /// Whether a row may have no value.
    pub is_optional: bool,
    /// Stored as each number's step from the one before, in as many bits as a block of steps
    /// takes: numbers that grow, or millions of random ones. Else values that repeat are looked up.
    pub is_in_steps: bool,
}

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Stored as `i32`, as all that are no longer.
    U8,
    /// Stored as `i32`.
    U16,
    /// Stored as `i32` of the same bits.
    U32,
    /// Signed.
    I32,
    /// Stored as `i64` of the same bits.
    U64,
    /// Signed.
    I64,
    /// Any number.
    F64,
    /// UTF-8.
    Text,
}

impl Field {
    /// A column with a value in each row.
    pub fn required(name: impl Into<String>, kind: Kind) -> Self {
        Self { name: name.into(), kind, is_optional: false, is_in_steps: false }
    }

    /// A column whose rows may lack values.
    pub fn optional(name: impl Into<String>, kind: Kind) -> Self {
        Self { is_optional: true, ..Self::required(name, kind) }
    }

    /// The same, stored in steps.
    #[must_use]
    pub fn in_steps(self) -> Self {
        Self { is_in_steps: true, ..self }
    }

    /// What a file says of one of its columns.
    pub(crate) fn of(column: &ColumnDescriptor) -> Result<Self, ColumnError> {
        let kind = match (column.physical_type(), column.converted_type()) {
            (PhysicalType::INT32, ConvertedType::UINT_8) => Kind::U8,
            (PhysicalType::INT32, ConvertedType::UINT_16) => Kind::U16,
            (PhysicalType::INT32, ConvertedType::UINT_32) => Kind::U32,
            (PhysicalType::INT32, _) => Kind::I32,
            (PhysicalType::INT64, ConvertedType::UINT_64) => Kind::U64,
            (PhysicalType::INT64, _) => Kind::I64,
            (PhysicalType::DOUBLE, _) => Kind::F64,
            (PhysicalType::BYTE_ARRAY, _) => Kind::Text,
            (other, _) => {
                let name = column.name();
                return Err(ColumnError::damaged(format!("column {name} is of type {other}")));
            }
        };
        let field = Self::required(column.name(), kind);
        Ok(Self { is_optional: column.self_type().is_optional(), ..field })
    }

    /// Whether a file's column is this one: name, type, and whether a value may be missing. What
    /// else writers note of a column differs.
    pub(crate) fn is(&self, column: &ColumnDescriptor) -> bool {
        let repetition = column.self_type().get_basic_info().repetition();
        (&self.name[..], self.kind.physical(), self.repetition())
            == (column.name(), column.physical_type(), repetition)
    }

    fn repetition(&self) -> Repetition {
        if self.is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED }
    }

    fn stored(&self) -> Result<TypePtr, ParquetError> {
        let field = Type::primitive_type_builder(&self.name, self.kind.physical());
        let field = field.with_logical_type(self.kind.logical());
        Ok(Arc::new(field.with_repetition(self.repetition()).build()?))
    }
}

impl Kind {
    fn physical(self) -> PhysicalType {
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::I32 => PhysicalType::INT32,
            Self::U64 | Self::I64 => PhysicalType::INT64,
            Self::F64 => PhysicalType::DOUBLE,
            Self::Text => PhysicalType::BYTE_ARRAY,
        }
    }

    fn logical(self) -> Option<LogicalType> {
        let unsigned = |bits| Some(LogicalType::integer(bits, false));
        match self {
            Self::U8 => unsigned(8),
            Self::U16 => unsigned(16),
            Self::U32 => unsigned(32),
            Self::U64 => unsigned(64),
            Self::I32 | Self::I64 | Self::F64 => None,
            Self::Text => Some(LogicalType::String),
        }
    }
}

/// A file of these columns, in the library's words.
pub(crate) fn schema(fields: &[Field]) -> Result<TypePtr, ParquetError> {
    let fields = fields.iter().map(Field::stored).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?))
}
