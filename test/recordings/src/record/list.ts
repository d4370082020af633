import { readFile } from 'node:fs/promises';
import { PackhouseError } from '@packhouse/runtime';
import { z } from 'zod';

const HASH = z.string().regex(/^0x[0-9a-f]{64}$/);
const SHA_256 = z.string().regex(/^[0-9a-f]{64}$/);
const NUMBER = z.int().nonnegative();

const rowSchema = z
  .strictObject({
    network: z.string().min(1),
    /** Absent for blocks of no chain that a node could be on. */
    chainId: z.int().positive().optional(),
    number: NUMBER.optional(),
    /** In place of a number: blocks in a row, each of which the one after it names as its parent. */
    from: NUMBER.optional(),
    to: NUMBER.optional(),
    /** Of the block, or of the last one: it proves all but what has a SHA-256 here. */
    hash: HASH,
    /** No hash covers it, and new nodes lack it: it is written as it stands here, and left out if it does not. */
    totalDifficulty: z
      .string()
      .regex(/^0x[0-9a-f]+$/)
      .optional(),
    /** Fields that the recorded block lacks though its node has them: they are left out. */
    lacks: z.array(z.literal('withdrawals')).optional(),
    /** SHA-256 of the proved text of the block without extra fields, if its hash does not prove it. */
    block: SHA_256.optional(),
    /** Whether there are receipts; the SHA-256 of their proved text if no root proves them. */
    receipts: z.union([z.literal(true), SHA_256]).optional(),
    /** SHA-256 of the canonical text of the traces without extra fields. */
    traces: SHA_256.optional(),
    /** Parts of the recording that no node gives, and why. */
    missing: z.record(z.string(), z.string()).optional(),
    /** Why no node gives this block. */
    reason: z.string().optional(),
  })
  .refine(
    ({ number, from, to }) =>
      number === undefined ? from !== undefined && to !== undefined && from < to : (from ?? to) === undefined,
    'expected either number, or from and to',
  )
  .refine(
    ({ chainId, reason }) => chainId !== undefined || reason !== undefined,
    'expected a chainId or a reason',
  )
  .refine(
    ({ number, block, receipts, traces }) =>
      number !== undefined || (typeof receipts !== 'string' && (block ?? traces) === undefined),
    'blocks in a row can have no SHA-256',
  );

const listSchema = z.strictObject({
  files: z.array(
    z.strictObject({
      /** Without `.jsonl.gz`. */
      file: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
      /** Whether its lines begin with the name of the network. */
      net: z.boolean(),
      rows: z.array(rowSchema),
    }),
  ),
});

/** One block to record, or blocks in a row. */
export type ListedRow = z.output<typeof rowSchema>;
export type ListedFile = z.output<typeof listSchema>['files'][number];
/** What a folder of recordings holds. */
export type RecordingList = z.output<typeof listSchema>;

/** The name of a line in its file. */
export function toKey(net: string | undefined, number: number): string {
  return `${net ?? ''} ${number}`;
}

/** First and last block of a row of the list. */
export function toRange({ number, from, to }: ListedRow): { from: number; to: number } {
  return { from: (number ?? from) as number, to: (number ?? to) as number };
}

export function countBlocks(row: ListedRow): number {
  const { from, to } = toRange(row);
  return to - from + 1;
}

/** Reads a list. Throws USAGE. */
export async function readList(path: string): Promise<RecordingList> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    const isJson = !(cause instanceof SyntaxError);
    throw listInvalid(
      path,
      isJson ? `cannot be read (${(cause as NodeJS.ErrnoException).code})` : 'is not JSON',
      cause,
    );
  }
  const parsed = listSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.length ? ` at ${issue.path.join('.')}` : '';
  throw listInvalid(path, `is no list of recordings: ${issue?.message}${place}`, parsed.error);
}

function listInvalid(path: string, what: string, cause: unknown): PackhouseError {
  return new PackhouseError({
    code: 'USAGE',
    message: `The list ${path} ${what}.`,
    hint: 'Restore it with git, or make one of a folder with --list-of.',
    cause,
  });
}
