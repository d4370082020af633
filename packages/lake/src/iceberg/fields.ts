import { PackhouseError } from '@packhouse/runtime';

/** Types of Iceberg (specification, "Primitive Types") that tables have. */
export type FieldType = 'boolean' | 'int' | 'long' | 'double' | 'decimal(38, 0)' | 'timestamp' | 'string';

/** A column of a table, with the id that its files, its bounds and its statistics know it by. */
export interface Field {
  /** Of this column for ever, whatever its place. */
  id: number;
  name: string;
  type: FieldType;
  required: boolean;
}

/** What a table is to have. */
interface Column {
  name: string;
  /** SQL type, as docs/tables.md has it. */
  type: string;
  required?: boolean | undefined;
}

/** Iceberg has no JSON: it is text there, as in Parquet. */
const TYPES: Readonly<Record<string, FieldType>> = {
  BOOLEAN: 'boolean',
  INTEGER: 'int',
  BIGINT: 'long',
  DOUBLE: 'double',
  'DECIMAL(38,0)': 'decimal(38, 0)',
  TIMESTAMP: 'timestamp',
  TEXT: 'string',
  JSON: 'string',
};

/**
 * The fields of a table with these columns. A column keeps the id that it has in `before`; a new one gets the next and may
 * be null, since older files lack it. Throws LAKE_SCHEMA_CHANGED if a column is gone, or has another type.
 */
export function assignFields(columns: readonly Column[], before: readonly Field[] = []): Field[] {
  const known = new Map(before.map((field) => [field.name, field]));
  let last = before.reduce((most, { id }) => Math.max(most, id), 0);
  const fields = columns.map(({ name, type, required = false }): Field => {
    const wanted = TYPES[type];
    if (wanted === undefined)
      throw changed(name, `has the type ${type}, which tables of the lake do not have`);
    const field = known.get(name);
    known.delete(name);
    if (field === undefined) {
      last += 1;
      return { id: last, name, type: wanted, required: required && before.length === 0 };
    }
    if (field.type !== wanted) throw changed(name, `was ${field.type} and is ${wanted}`);
    return field;
  });
  const [gone] = known.keys();
  if (gone !== undefined) throw changed(gone, 'is gone');
  return fields;
}

function changed(column: string, what: string): PackhouseError {
  return new PackhouseError({
    code: 'LAKE_SCHEMA_CHANGED',
    message: `The column ${column} ${what}: a table of the lake only gets columns more.`,
    hint: 'Run the version of packhouse that wrote the table.',
    data: { column },
  });
}
