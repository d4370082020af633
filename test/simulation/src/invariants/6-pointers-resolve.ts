import type { HonestChain } from '../chain/honest-chain.js';
import { checkFile, type HandedOut } from '../watch/downloader.js';
import { createFindings, type Verdict } from './verdict.js';

const AT_ONCE = 8;

/**
 * Invariant 6: every pointer that was handed out resolves to a file that holds its block as the chain has it, or is
 * 410 if a reorganisation removed that block.
 */
export async function pointersResolve(
  pointers: readonly HandedOut[],
  chain: HonestChain,
  download: (link: string) => Promise<{ status: number; body: Buffer }>,
): Promise<Verdict> {
  const findings = createFindings(6, 'pointers that were handed out keep resolving');
  const left = [...pointers];
  const work = async (): Promise<void> => {
    for (let pointer = left.pop(); pointer !== undefined; pointer = left.pop()) {
      findings.looked();
      const { status, body } = await download(pointer.link);
      const reorganised = chain.ever(pointer.block).length > 1;
      if (status === 410 && reorganised) continue;
      if (status !== 200) {
        findings.violated(
          `${pointer.link}, handed out for block ${pointer.block}, answers ${status}: ${body}`,
        );
        continue;
      }
      const problem = checkFile(body, pointer, (number) => {
        const block = chain.block(number);
        return block === undefined ? [] : [block];
      });
      if (problem !== null) findings.violated(`${pointer.link}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return findings.verdict();
}
