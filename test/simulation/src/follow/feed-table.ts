import type { Kind } from '@packhouse/chain';
import type { FeedStep } from '@packhouse/manifest';
import type { HonestChain } from '../chain/honest-chain.js';
import type { Findings } from '../invariants/verdict.js';
import { checkFile } from '../watch/downloader.js';

/** Two kinds show whether blocks come once and in order, whatever holds one of them. */
export const FOLLOWED: readonly Kind[] = ['blocks', 'logs'];

/** The hashes of what was delivered, by kind and block, held against the chain. */
export function createFeedTable(chain: HonestChain, findings: Findings) {
  const tables = new Map<Kind, Map<number, string>>(FOLLOWED.map((kind) => [kind, new Map()]));
  let finalTo = chain.first - 1;

  const put = (kind: Kind, block: number, hash: string): void => {
    findings.looked();
    const mine = tables.get(kind) as Map<number, string>;
    if (mine.has(block)) findings.violated(`block ${block} of ${kind} comes twice`);
    if (block > chain.first && !mine.has(block - 1))
      findings.violated(`${kind} of ${block} come before those of ${block - 1}`);
    mine.set(block, hash);
  };
  const compare = (to: number): void => {
    for (const [kind, mine] of tables) {
      for (let block = chain.first; block <= to; block++) {
        const [got, expected] = [mine.get(block), chain.block(block)?.block.hash];
        if (got !== expected) findings.violated(`${kind} of ${block}: expected ${expected}, got ${got}`);
      }
    }
  };
  const putFile = (kind: Kind, range: string, from: number, body: Buffer): void => {
    // Files are of final blocks, which no branch replaces.
    const toBlocks = (number: number) => [chain.block(number)].filter((block) => block !== undefined);
    const problem = checkFile(body, { kind, range, block: from }, toBlocks);
    if (problem !== null) findings.violated(`the file ${range} of ${kind}: ${problem}`);
    for (let block = from; block <= Number(range.split('-')[1]); block++) {
      put(kind, block, chain.block(block)?.block.hash ?? '');
    }
  };
  return {
    compare,
    /** Whether it has all kinds of a block. */
    has: (block: number): boolean => [...tables.values()].every((mine) => mine.has(block)),
    /** `body`: the file of a bundle. */
    apply(step: FeedStep, body: Buffer | undefined): void {
      if (step.step === 'bundle') putFile(step.kind, step.range, step.from, body as Buffer);
      else if (step.step === 'new')
        for (const kind of Object.keys(step.files) as Kind[]) put(kind, step.block, step.hash);
      else if (step.step === 'undo') {
        if (step.to.block < finalTo)
          findings.violated(`${step.to.block} is undone to, and ${finalTo} was final`);
        for (const mine of tables.values())
          for (const block of mine.keys()) if (block > step.to.block) mine.delete(block);
      } else if (step.step === 'final') {
        if (step.block <= finalTo) findings.violated(`${step.block} becomes final behind ${finalTo}`);
        finalTo = step.block;
        if (step.hash !== chain.block(step.block)?.block.hash)
          findings.violated(`final ${step.block} is not ${step.hash}`);
        compare(finalTo);
      } else if (step.step === 'skipped') findings.violated('nothing was to be skipped');
    },
  };
}
