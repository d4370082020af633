import { KINDS } from '@packhouse/chain';
import { schemaOf } from '../rows/read-columns.js';
import { createTable } from '../rows/schema.js';
import { FIELD_COLUMNS } from '../rows/schemas.js';

const INTRODUCTION = `# Tables

What \`packhouse pull --to\` writes and \`readRows\` of [\`packages/client\`](../packages/client/README.md) yields: a table for each kind, a row for
each record, in the order of the chain. The name of a table's form ends in its version, which is raised with every change of a column; a target of another
version is refused (\`TARGET_MISMATCH\`).

| type | in JSONL | in CSV |
|---|---|---|
| \`BIGINT\`, \`INTEGER\` | number | number |
| \`DECIMAL(38,0)\` | string of digits | digits |
| \`TEXT\`: hashes, addresses, topics and data are lower-case hex with \`0x\` | string | text |
| \`TIMESTAMP\`, in UTC | \`"2023-07-13T17:37:07Z"\` | \`2023-07-13 17:37:07\` |
| \`JSON\` | value | its text |
| null | \`null\` | nothing; an empty text is \`""\` |

- \`extra\` is a JSON object of what no column has: fields of other networks (\`l1Fee\`, \`sourceHash\` …), and, by the name in the last column below, a value that its
  column cannot hold (\`DECIMAL(38,0)\` ends at 10^38, \`BIGINT\` at 2^63). It is null if there is nothing. \`value_text\` is exact for every value.
- Null is what the record does not have, or has as null. \`block_timestamp\` of logs and transactions is null where the node does not repeat the time of the block in
  them, and receipts and traces have none: join \`blocks\` on \`block_number\`.
- The transactions of a block and the logs of a receipt are tables of their own: here they are counted.
`;

/** The page of docs that has every column. */
export function tablesPage(): string {
  const tables = KINDS.map((kind) => {
    const schema = schemaOf(kind);
    const rows = schema.columns.map(({ name, type, required }, at) => {
      const field = FIELD_COLUMNS[kind][at]?.field;
      return `| \`${name}\` | ${type}${required ? '' : ', or null'} | ${field === undefined ? '' : `\`${field}\``} |`;
    });
    const lines = ['| column | type | in the record |', '|---|---|---|', ...rows];
    return `\n## ${kind}\n\nVersion \`${schema.name}\`.\n\n${lines.join('\n')}\n\n\`\`\`sql\n${createTable(kind, schema)};\n\`\`\`\n`;
  });
  return INTRODUCTION + tables.join('');
}
