import { z } from 'zod';
import { networksFileSchema } from './network-schema.js';

/** The JSON Schema of the networks file, for editors; `networks.schema.json` is this, written down. */
export function networksJsonSchema(): Record<string, unknown> {
  return { title: 'Packhouse networks', ...z.toJSONSchema(networksFileSchema, { io: 'input' }) };
}
