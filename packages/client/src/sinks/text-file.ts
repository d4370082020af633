import { open } from 'node:fs/promises';
import type { Schema } from '../rows/schema.js';
import { notWritable } from '../whole-file.js';
import type { RowFileFormat } from './folder-sink.js';
import type { TextFormat } from './text-rows.js';

/** Files of text, one million rows each. */
export function textFiles(format: TextFormat, schema: Schema): RowFileFormat {
  return {
    extension: format.extension,
    rows: 1_000_000,
    async create(name) {
      const wrong = (error: unknown): never => {
        throw notWritable(name, error);
      };
      const file = await open(name, 'w').catch(wrong);
      await file.writeFile(format.head(schema)).catch(wrong);
      return {
        write: (batch) => file.writeFile(format.rows(schema, batch)).catch(wrong),
        async finish() {
          try {
            await file.sync().catch(wrong);
          } finally {
            await file.close();
          }
        },
        abort: () => file.close(),
      };
    },
  };
}
