import type { Database, QuarantineRow } from '@packhouse/database';

/** Causes of quarantine for which the answer of a node is to blame. */
export const WRONG_ANSWERS = ['PROOF_FAILED', 'RECORD_INVALID', 'NODE_ANSWER_INVALID'];
/** Entries that are read per cause. */
const MAX_ENTRIES = 200;

/** The quarantined blocks for which the answers of nodes are to blame. */
export async function listWrongAnswers(
  database: Database,
  network: string | undefined,
): Promise<QuarantineRow[]> {
  const { quarantine } = network === undefined ? database : database.network(network);
  const pages = await Promise.all(
    WRONG_ANSWERS.map((cause) => quarantine.list({ cause, limit: MAX_ENTRIES })),
  );
  return pages.flat();
}

/** The nodes whose answers for a quarantined block were wrong. */
export function getWrongUpstreams({ tried, upstream }: QuarantineRow): string[] {
  const wrong = tried.filter(({ cause }) => WRONG_ANSWERS.includes(cause)).map((each) => each.upstream);
  return tried.length === 0 && upstream !== null ? [upstream] : [...new Set(wrong)];
}
