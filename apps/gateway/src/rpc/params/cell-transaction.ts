import { type Check, data, hash, invalidParams, kindOf, quantity } from './check-params.js';

/** Checks a value at a path; throws the problem `params-invalid` that names it. */
type Shape = (value: unknown, path: string) => void;

const MAX_ITEMS = 10_000;

function by(check: Check): Shape {
  return (value, path) => {
    const wrong = check(value);
    if (wrong !== null) refuse(path, wrong);
  };
}

function oneOf(...words: string[]): Shape {
  return (value, path) => {
    if (typeof value !== 'string' || !words.includes(value))
      refuse(path, `expected one of ${words.join(', ')}`);
  };
}

function list(each: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return refuse(path, `expected an array, got ${kindOf(value)}`);
    if (value.length > MAX_ITEMS) refuse(path, `${value.length} items, at most ${MAX_ITEMS}`);
    for (const [at, item] of value.entries()) each(item, `${path}[${at}]`);
  };
}

function object(fields: Record<string, Shape>): Shape {
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return refuse(path, `expected an object, got ${kindOf(value)}`);
    }
    for (const [name, shape] of Object.entries(fields)) {
      const field = (value as Record<string, unknown>)[name];
      if (field === undefined) refuse(`${path}.${name}`, 'is missing');
      shape(field, `${path}.${name}`);
    }
    const unknown = Object.keys(value).some((name) => !(name in fields));
    if (unknown) refuse(path, `unknown field, expected ${Object.keys(fields).join(', ')}`);
  };
}

function nullable(shape: Shape): Shape {
  return (value, path) => {
    if (value !== null) shape(value, path);
  };
}

function refuse(path: string, wrong: string): never {
  throw invalidParams(`invalid argument 0: ${path.replace(/^\.?/, '')}: ${wrong}`, 0);
}

const outPoint = object({ index: by(quantity), tx_hash: by(hash) });
const script = object({
  code_hash: by(hash),
  hash_type: oneOf('data', 'type', 'data1', 'data2'),
  args: by(data),
});

const transaction = object({
  cell_deps: list(object({ dep_type: oneOf('code', 'dep_group'), out_point: outPoint })),
  header_deps: list(by(hash)),
  inputs: list(object({ previous_output: outPoint, since: by(quantity) })),
  outputs: list(object({ capacity: by(quantity), lock: script, type: nullable(script) })),
  outputs_data: list(by(data)),
  version: by(quantity),
  witnesses: list(by(data)),
});

/** Checks the transaction of send_transaction field by field: names, hex forms and counts. */
export function checkCellTransaction(value: unknown): void {
  transaction(value, 'transaction');
  const { outputs, outputs_data: outputsData } = value as { outputs: unknown[]; outputs_data: unknown[] };
  if (outputs.length !== outputsData.length) {
    refuse('transaction.outputs_data', `${outputsData.length} items for ${outputs.length} outputs`);
  }
}
