import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { readFragment } from '@packhouse/bundle';
import type { Kind } from '@packhouse/chain';
import { canonicalText } from '../chain/canonical.js';
import { ALL_BLOCKS, ALL_ROWS, type Evidence } from './evidence.js';
import { createFindings, type Findings, type Verdict } from './verdict.js';

/** Invariant 1: what is staged and published is, text for text, what the honest node has. */
export async function contentIsHonest(evidence: Evidence): Promise<Verdict> {
  const findings = createFindings(1, 'staged and published content is the honest chain');
  await checkBlocks(evidence, findings);
  for (const kind of evidence.kinds) {
    await checkStaged(evidence, kind, findings);
    await checkPublished(evidence, kind, findings);
  }
  return findings.verdict();
}

async function checkBlocks({ database, network, chain }: Evidence, findings: Findings): Promise<void> {
  for (const { number, hash } of await database.network(network).staging.blocks(ALL_BLOCKS)) {
    findings.looked();
    const expected = chain.block(number)?.block.hash;
    if (hash !== expected) findings.violated(`staged block ${number} is ${hash}, the chain has ${expected}`);
  }
}

async function checkStaged(evidence: Evidence, kind: Kind, findings: Findings): Promise<void> {
  const { database, network } = evidence;
  for (const fragment of await database.network(network).staging.fragments(kind, ALL_BLOCKS)) {
    const [body] = await database.network(network).staging.bodies(kind, [fragment.firstBlock]);
    const texts = await readFragment({ fragment, body: body as Buffer });
    const where = `staged fragment ${fragment.firstBlock}-${fragment.lastBlock}`;
    checkTexts(evidence, kind, fragment.firstBlock, texts.map(String), where, findings);
  }
}

async function checkPublished(evidence: Evidence, kind: Kind, findings: Findings): Promise<void> {
  const { database, network, readObject } = evidence;
  for (const row of await database.network(network).bundles.list(kind, 0, ALL_ROWS)) {
    const body = await readObject(row.objectKey);
    const sha256 = body === null ? null : createHash('sha256').update(body).digest('hex');
    if (body === null || sha256 !== row.sha256) {
      findings.looked();
      findings.violated(`object ${row.objectKey} has sha256 ${sha256}, the index says ${row.sha256}`);
      continue;
    }
    const texts = (JSON.parse(gunzipSync(body).toString()) as unknown[]).map((one) => JSON.stringify(one));
    if (texts.length !== row.lastBlock - row.firstBlock + 1)
      findings.violated(`${row.objectKey} holds ${texts.length} records`);
    checkTexts(evidence, kind, row.firstBlock, texts, row.objectKey, findings);
    for (const [number, hash] of [
      [row.firstBlock, row.firstHash],
      [row.lastBlock, row.lastHash],
    ] as const) {
      const expected = evidence.chain.block(number)?.block.hash;
      if (hash !== expected)
        findings.violated(`${row.objectKey} says ${number} is ${hash}, the chain has ${expected}`);
    }
  }
}

function checkTexts(
  { chain }: Evidence,
  kind: Kind,
  start: number,
  texts: readonly string[],
  where: string,
  findings: Findings,
): void {
  for (const [index, text] of texts.entries()) {
    findings.looked();
    const block = chain.block(start + index);
    if (block === undefined || canonicalText(block, kind) !== text) {
      findings.violated(`${kind} of block ${start + index} in ${where} are not what the honest node has`);
      return;
    }
  }
}
