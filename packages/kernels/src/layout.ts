/*
 * Where things are in the memory of the kernels. Both sides read this file, kernel/ in AssemblyScript and src/ in
 * TypeScript, so it has nothing but numbers.
 */

// The scanner. Its tables, which TypeScript writes: see kernel/scan/memory.ts.
export const TABLES_AT = 0x10000;
export const TABLES_END = 0x40000;

/** Places for the names of one kind of objects: four times as many as it has at most. */
export const PLACES = 128;
/** A place: length of the name, number of the field, form of its value (u32 each), and the name. */
export const PLACE_BYTES = 48;
export const PLACE_FIELD = 4;
export const PLACE_FORM = 8;
export const PLACE_NAME = 16;
export const MAX_NAME_LENGTH = 24;
/** Kinds of objects. */
export const OBJECT_KINDS = 7;
/** Added to a form: null is a value. */
export const OR_NULL = 0x100;

/** Fields of an object, and of an order. */
export const MAX_FIELDS = 48;
/** An order: required fields, allowed fields (u64 each), their count (u32), and a step for each. */
export const ORDER_ALLOWED = 8;
export const ORDER_COUNT = 16;
export const ORDER_HEAD = 32;
/** A step: its field, and address and length of what is before its value, `,"name":` (u32 each). */
export const STEP_BYTES = 16;
export const STEP_LITERAL = 4;
export const STEP_LENGTH = 8;
export const ORDER_BYTES = ORDER_HEAD + MAX_FIELDS * STEP_BYTES;

/** What TypeScript says of a block: its hash with quotes, then texts with their lengths (u32) before them. */
export const FACT_NUMBER = 68;
export const FACT_TIMESTAMP = 96;
export const FACT_DECIMAL = 124;
export const FACT_CHAIN_ID = 152;
/** Base fee, as far as there is one, and chain id (u64 each), then the checks that hold (u32). */
export const FACT_BASE_FEE = 184;
export const FACT_CHAIN = 192;
export const FACT_CHECKS = 200;
/** The price of blobs as a text, as those above; empty if it does not follow. */
export const FACT_BLOB_PRICE = 204;

// Bits of the checks.
export const CHECK_PRICES = 1;
export const CHECK_ADDRESSES = 2;
export const CHECK_LOG_CALLS = 4;
export const CHECK_SUMS = 8;
/** Receipts were asked for, so that traces are held against them. */
export const CHECK_RECEIPTS_GIVEN = 16;
/** The chain has deposits of the OP stack. */
export const CHECK_DEPOSITS = 32;
/** Since Amsterdam, whose system logs in a name of its own. */
export const CHECK_AMSTERDAM = 64;
/** What senders are recovered from is wanted. */
export const CHECK_SENDERS = 128;

/** What was found: the root of the transactions, then the following. */
export const FOUND_RECEIPTS_ROOT = 32;
export const FOUND_BLOOM = 64;
export const FOUND_COUNT = 320;
export const FOUND_BODY = 328;
export const FOUND_GAS = 336;
export const FOUND_DEPOSITS = 344;
/** Start and end (u32) of each text: transactions, receipts, logs, traces. */
export const FOUND_TEXTS = 352;
/** Start and end (u32) of the rows of signatures. */
export const FOUND_SIGNATURES = 384;
/** Of the OP stack since Jovian: what the receipts say of the header's blobGasUsed (u64), all ones if none does. */
export const FOUND_FOOTPRINT = 392;

/** What a sender is recovered from: the signed message, r, s (32 bytes each), the sender (20), then u32 each. */
export const SIGNATURE_BYTES = 128;
export const SIGNATURE_R = 32;
export const SIGNATURE_S = 64;
export const SIGNATURE_FROM = 96;
export const SIGNATURE_PLACE = 116;
/** 0 or 1, or NO_PARITY. */
export const SIGNATURE_PARITY = 120;
export const NO_PARITY = 2;

/** What is kept of a transaction (u32 each, and a u64). */
export const TRANSACTION_BYTES = 88;
export const TRANSACTION_KIND = 28;
export const KIND_DEPOSIT = 0x7e;

/** A value of an outline (u32 each). */
export const OUTLINED_BYTES = 32;
export const OUTLINED_START = 0;
export const OUTLINED_END = 4;
export const OUTLINED_KEY = 8;
export const OUTLINED_KEY_LENGTH = 12;
export const OUTLINED_NEXT = 16;
export const OUTLINED_OBJECTS = 20;
export const OUTLINED_FIRST = 24;
export const OUTLINED_FIRST_END = 28;

/** Zeros that the scanner and the outline expect behind a text. */
export const SLACK_BYTES = 64;

// The deflater. What a text has whose items are wanted.
export const ITEMS_OF_LOGS = 0;
export const ITEMS_OF_TRANSACTIONS = 1;
export const ITEMS_OF_TRACES = 2;
/** Bytes of SHA-256 that are kept of an item. */
export const DIGEST_BYTES = 10;

// The JSON scanner.
/** Bytes that are scanned at a time. */
export const PIECE_BYTES = 65_536;
/** Deeper than any trace: EVM calls nest 1,024 deep, two brackets each. */
export const MAX_DEPTH = 10_000;

// The reader of records (kernel/records/records.ts).
export const MAX_MEMBERS = 64;
/** A member: start and end of its value in the record before, and the number of that, whether it is required (u32 each). */
export const MEMBER_LAST_START = 0;
export const MEMBER_LAST_END = 4;
export const MEMBER_LAST_NUMBER = 8;
export const MEMBER_REQUIRED = 12;
/** Its slots, a mask of offsets in them, and how many values it has (u32 each). */
export const MEMBER_SLOTS = 16;
export const MEMBER_MASK = 20;
export const MEMBER_SIZE = 24;
/** The first of its columns, and 1 more; 0: it has none here (u32). */
export const MEMBER_COLUMNS = 28;
export const MEMBER_BYTES = 32;
/** A step through a record: where the text has what is before the value, once, and the length of that (u32 each). */
export const MAX_RECORD_STEPS = 64;
export const RECORD_STEP_LENGTH = 4;
/** The member, NO_MEMBER, or the first of a list's members in the shape's list (u32). */
export const RECORD_STEP_MEMBER = 8;
/** How many members of a list there are, or what else is behind that text (u32). */
export const RECORD_STEP_COUNT = 12;
export const RECORD_STEP_BYTES = 16;
export const NO_MEMBER = 0xffff;
/** A value. */
export const NO_LIST = 0xffff;
/** Nothing: it is the end of the record. */
export const NO_VALUE = 0xfffe;
/** A list of objects that is skipped; the member has how many they are, and 1 more. */
export const COUNTED = 0xfffd;
/** Shapes of records that are known at a time: their steps, members of their lists, and members that they lack. */
export const MAX_SHAPES = 16;
/** How many steps and lacking members there are (u32 each), then the steps. */
export const SHAPE_ABSENT_COUNT = 4;
export const SHAPE_STEPS = 16;
export const SHAPE_LISTS = SHAPE_STEPS + MAX_RECORD_STEPS * RECORD_STEP_BYTES;
export const SHAPE_ABSENT = SHAPE_LISTS + MAX_MEMBERS * 4;
export const SHAPE_BYTES = SHAPE_ABSENT + MAX_MEMBERS * 4;
/** A value that was not there before: its member, and its start and end in the text (u32 each). */
export const NEWS_BYTES = 12;
/** A column of a member's values; those of one member follow each other. Its member and how values are written (u32 each). */
export const MAX_COLUMNS = 64;
export const COLUMN_FORM = 4;
/** Where its bytes are, how many, and for how many there is room (u32 each). */
export const COLUMN_AT = 8;
export const COLUMN_LENGTH = 12;
export const COLUMN_ROOM = 16;
/** Where the end and the hash of each value are (u32 each), how many there are, and for how many there is room (u32 each). */
export const COLUMN_VALUES = 20;
export const COLUMN_COUNT = 24;
export const COLUMN_VALUES_ROOM = 28;
export const COLUMN_BYTES = 32;
export const COLUMN_VALUE_BYTES = 8;
/** Forms: a text; a quantity or number as 64 or 32 bits; a quantity as decimal of 38 digits, as double, as decimal text; a list of small numbers as it is. */
export const FORM_TEXT = 1;
export const FORM_INT64 = 2;
export const FORM_INT32 = 3;
export const FORM_DECIMAL = 4;
export const FORM_DOUBLE = 5;
export const FORM_DIGITS = 6;
export const FORM_PATH = 7;
