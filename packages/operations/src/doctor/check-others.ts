import { type ClientAnswer, getIdentityRequest, type UpstreamClient } from '@packhouse/node-rpc';
import type { Chart } from './chart.js';
import { checkMethods, type Question } from './check-methods.js';
import { reach } from './reach.js';
import { asQuantity, getField } from './read-values.js';

/** The core space of Conflux: `cfx_` unless the networks file has another prefix for the nodes. */
export async function checkCore(chart: Chart, ask: UpstreamClient): Promise<void> {
  const prefix = chart.network.rpc.aliases.core_ ?? 'core_';
  if (!(await reach(chart, ask, [`${prefix}getStatus`, []]))) return;
  const status = await ask.call(`${prefix}getStatus`, []);
  const id =
    status.kind === 'result' ? (getIdentityRequest(chart.network)?.read(status.value) ?? null) : null;
  const expected = chart.network.chainId;
  if (id === expected) chart.set('chain', 'ok', String(id));
  else {
    chart.usable = false;
    chart.find(
      { column: 'chain', level: 'fail', text: id === null ? 'unknown' : String(id) },
      id === null
        ? `It does not return its network in ${prefix}getStatus.`
        : `It serves network ${id}, but the networks file has ${expected}.`,
      'Use the URL of a node of this network, or correct chainId.',
    );
  }
  chart.head = asQuantity(getField(status, 'epochNumber'));
  const finalized = asQuantity(getField(status, 'latestFinalized'));
  if (finalized !== null) chart.set('finalized', 'ok', String(finalized));
  await Promise.all([
    checkMethods(
      chart,
      ask,
      [
        [`${prefix}epochNumber`, ['latest_state']],
        [`${prefix}getLogs`, [{ fromEpoch: 'latest_state', toEpoch: 'latest_state' }]],
      ],
      [`${prefix}getLogs`],
    ),
    client(chart, ask, [`${prefix}clientVersion`, []]),
  ]);
}

/** CKB. */
export async function checkCell(chart: Chart, ask: UpstreamClient): Promise<void> {
  if (!(await reach(chart, ask, ['get_tip_block_number', []]))) return;
  const tip = await ask.call('get_tip_block_number', []);
  chart.head = tip.kind === 'result' ? asQuantity(tip.value) : null;
  const id = getField(await ask.call('get_consensus', []), 'id');
  if (typeof id === 'string') {
    chart.chain = chart.label.quote(id);
    chart.set('chain', 'ok', chart.chain);
  } else {
    chart.usable = false;
    chart.find(
      { column: 'chain', level: 'fail', text: 'unknown' },
      'It does not return its chain in get_consensus.',
      'Check that it is a CKB node whose Chain module is enabled.',
    );
  }
  await Promise.all([
    // Without a transaction: a node that has the method reports that one is missing.
    checkMethods(
      chart,
      ask,
      [
        ['get_consensus', []],
        ['get_tip_block_number', []],
        ['send_transaction', []],
      ],
      ['get_consensus'],
    ),
    client(chart, ask, ['local_node_info', []], 'version'),
  ]);
}

/** An address without a known key. */
const NOBODY = `0x${'00'.repeat(19)}01`;

/** A name registry. */
export async function checkRegistry(chart: Chart, ask: UpstreamClient): Promise<void> {
  const prefix = chart.network.rpc.aliases.registry_ ?? 'registry_';
  const key_info = { coin_type: '60', chain_id: '1', key: NOBODY };
  const question: Question = [`${prefix}accountList`, [{ type: 'blockchain', key_info }]];
  if (!(await reach(chart, ask, question))) return;
  const answer = await ask.call(...question);
  const code = getField(answer, 'errno') ?? getField(answer, 'err_no');
  if (code === 0) {
    chart.set('methods', 'ok', '1/1');
    checkIndex(chart, await ask.call(`${prefix}serverInfo`, []));
    return;
  }
  chart.usable = false;
  chart.find(
    { column: 'methods', level: 'fail', text: '0/1' },
    typeof code === 'number'
      ? `A lookup returns errno ${code}.`
      : 'A lookup does not return an account list.',
    "Check that it is the registry's indexer, and its log.",
  );
}

/** Checks the state that an indexer reports; an indexer that reports none passes. */
function checkIndex(chart: Chart, answer: ClientAnswer): void {
  const data = getField(answer, 'data') as Record<string, unknown> | null | undefined;
  const { chain, current_block_number: block, is_latest_block_number: latest } = data ?? {};
  if (typeof chain === 'string') {
    chart.chain = chart.label.quote(chain);
    chart.set('chain', 'ok', chart.chain);
  }
  chart.head = asQuantity(block);
  if (latest !== false) return;
  chart.find(
    { column: 'behind', level: 'warn', text: 'indexing' },
    'Its index is behind its chain.',
    'Wait until it has caught up, or check its own node.',
  );
}

async function client(chart: Chart, ask: UpstreamClient, question: Question, field?: string): Promise<void> {
  const answer = await ask.call(...question);
  const value =
    answer.kind !== 'result' ? undefined : field === undefined ? answer.value : getField(answer, field);
  if (typeof value === 'string') chart.set('client', 'ok', chart.label.quote(value).slice(0, 40));
}
