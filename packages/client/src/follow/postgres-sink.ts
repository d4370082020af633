import { rowsWithin } from '@packhouse/rows';
import { PackhouseError } from '@packhouse/runtime';
import pg from 'pg';
import type { FollowStep } from '../client/follow.js';
import { createLinks, toRange } from '../feed/links.js';
import { createGuard, freeLocks } from '../sinks/postgres-table.js';
import type { FollowSink } from './follow-into.js';
import { checkOrigin, checkTogether } from './follow-state.js';
import {
  appendRows,
  checkHash,
  deleteRows,
  type FollowTable,
  makeConstraints,
  openFollowTable,
  saveState,
  type TableOptions,
  tableNames,
} from './follow-tables.js';

export interface PostgresSinkOptions extends TableOptions {
  /** A pool of `pg`, of which the sink takes one connection until it is closed. */
  pool?: { connect(): Promise<pg.PoolClient> } | undefined;
  /** The address of the database, in place of a pool. */
  url?: string | undefined;
  /** Told when history ends: constraints and indexes are made before the first block that may be undone. */
  onLoaded?: ((rows: number) => void) | undefined;
}

/** A sink that is a database. */
export interface PostgresFollowSink extends FollowSink {
  /** Whether tables have no constraints and indexes yet. */
  readonly loading: boolean;
  /** Logs so far that no event of the ABI fits. */
  readonly undecoded: number;
}

/** Final blocks are committed after so many rows or steps: what a death costs, at most. */
const COMMIT_ROWS = 200_000;
const COMMIT_STEPS = 64;
/** What a feed that has no more final blocks waits for. */
const AT_HEAD: ReadonlySet<string> = new Set(['not-produced', 'not-final', 'not-finalized']);

/** See createPostgresSink. */
export async function openPostgresSink(options: PostgresSinkOptions): Promise<PostgresFollowSink> {
  const names = tableNames(options);
  const guarded = createGuard([...names.values()].join(', '));
  const { client, end } = await guarded(() => connect(options));
  // A connection that breaks is seen at the next query.
  client.on('error', () => undefined);
  const tables: FollowTable[] = [];
  try {
    for (const [kind, name] of names) tables.push(await openFollowTable(client, kind, name, options));
    checkTogether(new Map(tables.map(({ table, state }) => [table.key, state])));
  } catch (error) {
    await freeLocks(client);
    await end();
    throw error;
  }
  return new OpenSink(end, tables, options.onLoaded);
}

/** A connection; with its end go its locks, and what is not committed. */
async function connect({ pool, url }: PostgresSinkOptions): Promise<{
  client: pg.ClientBase;
  end(): Promise<void>;
}> {
  if (pool !== undefined) {
    const client = await pool.connect();
    return { client, end: async () => client.release(true) };
  }
  const client = new pg.Client({ connectionString: url, application_name: 'packhouse follow' });
  client.on('error', () => undefined);
  await client.connect();
  return { client, end: () => client.end().catch(() => undefined) };
}

class OpenSink implements PostgresFollowSink {
  readonly replaced: { from: number; to: number }[] = [];
  readonly #end: () => Promise<void>;
  readonly #tables: readonly FollowTable[];
  readonly #onLoaded: PostgresSinkOptions['onLoaded'];
  readonly #links;
  /** Rows in the database. */
  #committed;
  #cursor: string | null;
  #begun = false;
  /** The table whose COPY is open: nothing else can be asked until it ends. */
  #copying: FollowTable | null = null;
  #pending = { rows: 0, steps: 0 };
  #failed: unknown = null;
  #isOpen = true;

  constructor(
    end: () => Promise<void>,
    tables: readonly FollowTable[],
    onLoaded: PostgresSinkOptions['onLoaded'],
  ) {
    const [first] = tables as [FollowTable];
    this.#end = end;
    this.#tables = tables;
    this.#onLoaded = onLoaded;
    this.#links = createLinks(first.state.links);
    this.#cursor = first.state.cursor;
    this.#committed = this.#sum();
  }

  get cursor(): string | null {
    return this.#cursor;
  }

  get rows(): number {
    return this.#committed;
  }

  get loading(): boolean {
    return this.#tables[0]?.state.mode === 'load';
  }

  get undecoded(): number {
    return this.#tables.reduce((sum, { decoder }) => sum + (decoder?.undecoded ?? 0), 0);
  }

  async write(step: FollowStep): Promise<void> {
    if (this.#failed !== null) throw this.#failed;
    try {
      if (!this.#isOpen) throw closed();
      await this.#take(step);
    } catch (error) {
      this.#failed = error;
      throw error;
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      if (this.#failed === null && this.#pending.steps > 0) await this.#commit();
    } finally {
      for (const { table } of this.#tables) await table.close();
      await this.#end();
    }
  }

  async #take(step: FollowStep): Promise<void> {
    for (const { table, state } of this.#tables) checkOrigin(table.target, state, step.origin);
    this.#checkKinds(step);
    switch (step.step) {
      case 'waiting':
        if (this.loading && AT_HEAD.has(step.reason)) await this.#endLoad();
        else if (this.#pending.steps > 0) await this.#commit();
        return;
      case 'undo':
        await this.#undo(step);
        break;
      case 'repaired':
        await this.#replace(step);
        break;
      case 'final':
        this.#links.final(step);
        break;
      case 'skipped':
        this.#links.skipped(step.kind, toRange(step.range));
        break;
      default:
        await this.#add(step);
    }
    this.#cursor = step.cursor;
    for (const { state } of this.#tables) state.origin = step.origin;
    this.#pending.steps += 1;
    const isDue = this.#pending.rows >= COMMIT_ROWS || this.#pending.steps >= COMMIT_STEPS;
    const mayBeUndone = step.step === 'blocks' && !step.final;
    if (mayBeUndone || isDue || step.step === 'undo' || step.step === 'repaired') await this.#commit();
  }

  #checkKinds({ origin }: FollowStep): void {
    const own = this.#tables.map(({ kind }) => kind).sort();
    if (String(own) === String([...origin.kinds].sort())) return;
    throw new PackhouseError({
      code: 'USAGE',
      message: `The sink has tables of ${own.join(', ')}, and the steps are of ${origin.kinds.join(', ')}.`,
      hint: 'Follow the kinds of which there are tables.',
    });
  }

  async #add(step: Extract<FollowStep, { step: 'blocks' }>): Promise<void> {
    if (!step.final && this.loading) await this.#endLoad();
    this.#links.blocks({ ...step, kinds: step.tables.map(({ kind }) => kind) });
    for (const { kind, rows, batches } of step.tables) {
      const own = this.#of(kind);
      own.state.first ??= step.from;
      if (rows === 0) continue;
      await this.#open(own);
      await appendRows(own, batches);
      this.#pending.rows += rows;
    }
  }

  async #undo(step: Extract<FollowStep, { step: 'undo' }>): Promise<void> {
    this.#links.undo(step);
    await this.#open(null);
    const { block, hash } = step.to;
    for (const each of this.#tables) {
      await deleteRows(each, block + 1, Number.MAX_SAFE_INTEGER);
      if (hash !== null) await checkHash(each, block, hash);
    }
  }

  async #replace(step: Extract<FollowStep, { step: 'repaired' }>): Promise<void> {
    const own = this.#of(step.kind);
    const from = Math.max(step.from, own.state.first ?? step.from);
    const to = Math.min(step.to, (this.#links.state().next[step.kind] ?? 0) - 1);
    if (from > to) return;
    await this.#open(null);
    await deleteRows(own, from, to);
    await this.#open(own);
    for (const { batches } of step.tables) {
      await appendRows(
        own,
        batches.map((batch) => rowsWithin(batch, from, to)),
      );
    }
    this.replaced.push({ from, to });
  }

  /** Begins a transaction, if none is open, and leaves only the COPY of this table open. */
  async #open(own: FollowTable | null): Promise<void> {
    if (this.#copying !== own) {
      await this.#copying?.table.flush();
      this.#copying = null;
    }
    if (!this.#begun) {
      // Cursor and rows are lost together, so that a server that dies costs no more than a process that does.
      const more = this.loading ? '; SET LOCAL synchronous_commit = off' : '';
      await this.#first().table.query(`BEGIN${more}`);
      this.#begun = true;
    }
    this.#copying = own;
  }

  async #endLoad(): Promise<void> {
    await this.#open(null);
    const { table } = this.#first();
    await table.query("SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '256MB'");
    for (const each of this.#tables) {
      await makeConstraints(each);
      each.state.mode = 'rows';
    }
    await this.#commit();
    this.#onLoaded?.(this.rows);
  }

  async #commit(): Promise<void> {
    await this.#open(null);
    const links = this.#links.state();
    for (const each of this.#tables) {
      Object.assign(each.state, { cursor: this.#cursor, links });
      await saveState(each);
    }
    await this.#first().table.query('COMMIT');
    this.#begun = false;
    this.#pending = { rows: 0, steps: 0 };
    this.#committed = this.#sum();
  }

  #first(): FollowTable {
    return this.#tables[0] as FollowTable;
  }

  #of(kind: FollowTable['kind']): FollowTable {
    return this.#tables.find((each) => each.kind === kind) as FollowTable;
  }

  #sum(): number {
    return this.#tables.reduce((sum, { state }) => sum + state.rows, 0);
  }
}

function closed(): PackhouseError {
  return new PackhouseError({ code: 'USAGE', message: 'The sink is closed.', hint: 'Open another one.' });
}
