import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { networksFileSchema } from './network-schema.js';

it('is what networks.schema.json says (write it anew with `npx vitest run packages/networks -u`)', async () => {
  const schema = { title: 'Packhouse networks', ...z.toJSONSchema(networksFileSchema, { io: 'input' }) };
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  await expect(text).toMatchFileSnapshot('../networks.schema.json');
});

it('says what each field means', () => {
  const schema = readFileSync(new URL('../networks.schema.json', import.meta.url), 'utf8');
  const fields = JSON.parse(schema).properties.networks.items;
  const undescribed: string[] = [];
  const walk = (node: unknown, name: string): void => {
    if (node === null || typeof node !== 'object') return;
    const { properties } = node as { properties?: Record<string, { description?: string }> };
    for (const [field, shape] of Object.entries(properties ?? {})) {
      if (shape.description === undefined) undescribed.push(`${name}.${field}`);
    }
    for (const [key, child] of Object.entries(node)) walk(child, `${name}.${key}`);
  };
  walk(fields, 'network');
  expect(undescribed).toEqual([]);
});
