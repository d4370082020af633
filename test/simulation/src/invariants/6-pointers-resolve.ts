import { getOrAdd } from '@packhouse/runtime';
import type { HonestChain } from '../chain/honest-chain.js';
import { checkFile, checkPlace, type HandedOut } from '../watch/downloader.js';
import { createFindings, type Verdict } from './verdict.js';

const AT_ONCE = 8;

/**
 * Invariant 6: every pointer that was handed out resolves to a file that holds its block as the chain has it, or is
 * 410 if a reorganisation removed that block. Each file is downloaded once.
 */
export async function pointersResolve(
  pointers: readonly HandedOut[],
  chain: HonestChain,
  download: (link: string) => Promise<{ status: number; body: Buffer }>,
): Promise<Verdict> {
  const findings = createFindings(6, 'pointers that were handed out keep resolving');
  const byLink = new Map<string, HandedOut[]>();
  for (const pointer of pointers) getOrAdd(byLink, pointer.link, () => []).push(pointer);
  const check = async (link: string, handedOut: readonly HandedOut[]): Promise<void> => {
    findings.looked(handedOut.length);
    const { status, body } = await download(link);
    if (status !== 200) {
      for (const { block } of handedOut) {
        if (status === 410 && chain.ever(block).length > 1) continue;
        findings.violated(`${link}, handed out for block ${block}, answers ${status}: ${body}`);
      }
      return;
    }
    const problem =
      handedOut.map(checkPlace).find((each) => each !== null) ??
      checkFile(body, handedOut[0] as HandedOut, (number) => {
        const block = chain.block(number);
        return block === undefined ? [] : [block];
      });
    if (problem !== null) findings.violated(`${link}: ${problem}`);
  };
  const left = [...byLink];
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await check(...next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return findings.verdict();
}
