import { redact } from '@packhouse/runtime';
import { z } from 'zod';
import { didYouMean } from './did-you-mean.js';
import { networksFileSchema } from './network-schema.js';

/** A position in the tree of the file. */
export type Path = readonly (string | number)[];

/** A problem of the file; `line` counts from 1. */
export interface Problem {
  line: number;
  text: string;
}

/** The problems of an issue of zod: one for a wrong field, or one for each unknown field, at its line. */
export function issueProblems(
  issue: z.core.$ZodIssue,
  tree: unknown,
  toLine: (path: Path) => number,
): Problem[] {
  const path = issue.path as Path;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      line: toLine([...path, key]),
      text: `${fieldName([...path, key])} is an unknown field${didYouMean(key, knownKeys(path))}`,
    }));
  }
  const value = valueAt(tree, path);
  if (value === undefined) {
    return [{ line: toLine(path), text: `${fieldName(path)} is missing (${expectation(issue)})` }];
  }
  return [{ line: toLine(path), text: `${fieldName(path)} ${wrongness(issue)}, got ${shown(value, path)}` }];
}

function wrongness(issue: z.core.$ZodIssue): string {
  // Packhouse's messages start with a verb; zod's are sentences about the input.
  return /^(is|has|does|ends) /.test(issue.message) ? issue.message : `is invalid: ${expectation(issue)}`;
}

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type')
    return `expected ${issue.expected === 'int' ? 'a whole number' : issue.expected}`;
  if (issue.code === 'invalid_value')
    return `expected ${issue.values.map((value) => `"${String(value)}"`).join(' or ')}`;
  if (issue.code === 'invalid_union') return 'expected "evm", "core", "cell" or "registry"';
  if (issue.code === 'too_small')
    return `expected ${issue.origin === 'array' ? 'at least one entry' : `at least ${issue.minimum}`}`;
  if (issue.code === 'too_big') return `expected at most ${issue.maximum}`;
  return issue.message;
}

/** The value as written, shortened, without secrets: headers are hidden, credentials removed from addresses. */
function shown(value: unknown, path: Path): string {
  if (path.includes('headers')) return 'a hidden value';
  const text = typeof value === 'string' ? `"${value}"` : JSON.stringify(value);
  const safe = redact(text);
  return safe.length > 80 ? `${safe.slice(0, 77)}…` : safe;
}

/** `networks[1].upstreams[0].url`. */
export function fieldName(path: Path): string {
  if (path.length === 0) return 'the file';
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}

function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const part of path) {
    if (value === null || typeof value !== 'object') return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

/** The fields allowed under a path, from the schema. */
function knownKeys(path: Path): string[] {
  type Shape = { properties?: Record<string, Shape>; items?: Shape; oneOf?: Shape[]; anyOf?: Shape[] };
  let shapes = [z.toJSONSchema(networksFileSchema, { io: 'input' }) as Shape];
  const spread = (shape: Shape): Shape[] => shape.oneOf ?? shape.anyOf ?? [shape];
  for (const part of path) {
    shapes = shapes
      .flatMap(spread)
      .flatMap((shape) => (typeof part === 'number' ? shape.items : shape.properties?.[part]) ?? []);
  }
  return shapes.flatMap(spread).flatMap((shape) => Object.keys(shape.properties ?? {}));
}
