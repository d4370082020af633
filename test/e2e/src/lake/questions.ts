const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Records of bundles, as far as the questions need them. */
export interface Records {
  blocks: { number: string; timestamp: string }[];
  transactions: { from: string }[];
  receipts: { blockNumber: string; status: string; gasUsed: string }[];
  logs: { blockNumber: string; logIndex: string; address: string; topics: string[]; data: string }[];
}

interface Question {
  /** What every engine understands; numbers are text, since they may have 38 digits. */
  sql: string;
  /** The rows that the records have. */
  answer(records: Records): string[][];
}

/** Adds up by a name, ascending. */
function sums<T>(
  all: readonly T[],
  name: (each: T) => string,
  amount: (each: T) => bigint,
): [string, bigint][] {
  const totals = new Map<string, bigint>();
  for (const each of all) totals.set(name(each), (totals.get(name(each)) ?? 0n) + amount(each));
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1));
}

const day = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);
const hour = (seconds: number): string => String(new Date(seconds * 1_000).getUTCHours());

function timesOf({ blocks }: Records): Map<string, number> {
  return new Map(blocks.map(({ number, timestamp }) => [number, Number(timestamp)]));
}

/** The contracts of the last question. */
export const contractsOf = ({ logs }: Records): string[] =>
  [...new Set(logs.map(({ address }) => address))].sort().slice(0, 20);

const transfersOf = ({ logs }: Records): Records['logs'] =>
  logs.filter(({ topics, data }) => topics[0] === TRANSFER && topics.length === 3 && data.length === 66);

/** The token of the first question: the one with most transfers. */
function tokenOf(records: Records): string {
  const counts = sums(
    transfersOf(records),
    ({ address }) => address,
    () => 1n,
  );
  const [most] = counts.sort(([, a], [, b]) => Number(b - a));
  if (most === undefined) throw new Error('the blocks have no transfers of tokens');
  return most[0];
}

/** Volume of a token by day, top callers, failed share by block, gas by hour, logs of twenty contracts. */
const QUESTIONS: readonly Question[] = [
  {
    sql: "SELECT CAST(CAST(block_timestamp AS DATE) AS VARCHAR(10)) AS d, CAST(sum(value) AS VARCHAR(40)) AS v FROM {transfers} WHERE token_address = 'TOKEN' GROUP BY CAST(CAST(block_timestamp AS DATE) AS VARCHAR(10)) ORDER BY d",
    answer(records) {
      const times = timesOf(records);
      const token = tokenOf(records);
      const moved = transfersOf(records).filter(({ address }) => address === token);
      return sums(
        moved,
        ({ blockNumber }) => day(times.get(blockNumber) as number),
        ({ data }) => BigInt(data),
      ).map(([date, volume]) => [date, String(volume)]);
    },
  },
  {
    sql: 'SELECT from_address, count(*) AS n FROM {transactions} GROUP BY from_address ORDER BY n DESC, from_address LIMIT 10',
    answer: ({ transactions }) =>
      sums(
        transactions,
        ({ from }) => from,
        () => 1n,
      )
        .sort(([, a], [, b]) => Number(b - a))
        .slice(0, 10)
        .map(([from, count]) => [from, String(count)]),
  },
  {
    sql: 'SELECT block_number, sum(CASE WHEN status = 0 THEN 1 ELSE 0 END) AS failed, count(*) AS n FROM {receipts} GROUP BY block_number ORDER BY block_number',
    answer({ receipts }) {
      const name = ({ blockNumber }: Records['receipts'][number]): string => String(Number(blockNumber));
      const failed = sums(receipts, name, ({ status }) => (status === '0x0' ? 1n : 0n));
      const all = sums(receipts, name, () => 1n);
      return failed.map(([block, count], at) => [block, String(count), String(all[at]?.[1])]);
    },
  },
  {
    sql: 'SELECT EXTRACT(HOUR FROM block_timestamp) AS h, sum(gas_used) AS gas FROM {receipts} GROUP BY EXTRACT(HOUR FROM block_timestamp) ORDER BY h',
    answer(records) {
      const times = timesOf(records);
      return sums(
        records.receipts,
        ({ blockNumber }) => hour(times.get(blockNumber) as number),
        ({ gasUsed }) => BigInt(gasUsed),
      ).map(([at, gas]) => [at, String(gas)]);
    },
  },
  {
    sql: 'SELECT block_number, log_index, address, topic0, data FROM {logs} WHERE address IN (CONTRACTS) ORDER BY block_number, log_index',
    answer(records) {
      const contracts = new Set(contractsOf(records));
      return records.logs
        .filter(({ address }) => contracts.has(address))
        .map(({ blockNumber, logIndex, address, topics, data }) => [
          String(Number(blockNumber)),
          String(Number(logIndex)),
          address,
          topics[0] ?? '',
          data,
        ]);
    },
  },
];

/** What the records answer, a list of rows for each question. */
export function toAnswers(records: Records): string[][][] {
  return QUESTIONS.map(({ answer }) => answer(records));
}

/** The questions as SQL, with the contracts of these records. */
export function toQueries(records: Records): string[] {
  const contracts = contractsOf(records)
    .map((each) => `'${each}'`)
    .join();
  const token = tokenOf(records);
  return QUESTIONS.map(({ sql }) => sql.replace('CONTRACTS', contracts).replace('TOKEN', token));
}
