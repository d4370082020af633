import { median, readProcess } from '@packhouse/rig';
import { failOnErrors, type LoadReport, load, loadGenerator } from './load.js';
import { openSides } from './open-sides.js';
import type { BenchOptions } from './options.js';
import { type BenchOutcome, figure } from './result.js';

const ROUNDS = 3;
const CONNECTIONS = 16;
const NUMBERS = 10_000;
/** No two requests in flight are alike, so that nothing is shared. */
const BLOCK = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x1000{n}",true]}';
const CODINGS = ['identity', 'gzip', 'br'] as const;

interface Measured extends LoadReport {
  /** Bytes on the wire, and CPU of the gateway in all its threads. */
  bytesEach: number;
  cpuMsEach: number;
}

/** What the compression of a block of 200 KB costs the gateway in answers and CPU, and what it saves in bytes. */
export async function benchCompression(options: BenchOptions): Promise<BenchOutcome[]> {
  const { scope } = options;
  const seconds = Math.max(1, Math.ceil(options.seconds / 4));
  const { directory, gateway } = await openSides(scope);
  const cpuSeconds = (): number => readProcess(gateway.pid)?.cpuSeconds ?? Number.NaN;
  const put = async (coding: string): Promise<Measured> => {
    const before = cpuSeconds();
    const report = await load(scope, directory, {
      url: gateway.url,
      paths: [`/ethereum/v1/${gateway.apiKey}`],
      below: NUMBERS,
      body: BLOCK,
      headers: { 'accept-encoding': coding },
      connections: CONNECTIONS,
      seconds,
    });
    failOnErrors([report]);
    const answers = report.requestsPerSecond * seconds;
    return {
      ...report,
      bytesEach: report.bytesPerSecond / report.requestsPerSecond,
      cpuMsEach: ((cpuSeconds() - before) * 1_000) / answers,
    };
  };
  for (const coding of CODINGS) await put(coding);
  const rounds: Record<(typeof CODINGS)[number], Measured>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ identity: await put('identity'), gzip: await put('gzip'), br: await put('br') });
  }
  const of = (coding: (typeof CODINGS)[number], what: 'requestsPerSecond' | 'bytesEach' | 'cpuMsEach') =>
    median(rounds.map((round) => round[coding][what]));
  const generator = await loadGenerator();
  return (['gzip', 'br'] as const).map((coding) => ({
    name: `a block of 200 KB as ${coding}, ${CONNECTIONS} connections: requests`,
    value: of(coding, 'requestsPerSecond'),
    unit: 'requests/s',
    yardstick: { name: 'as it is', value: of('identity', 'requestsPerSecond'), unit: 'requests/s' },
    note: `${figure(of(coding, 'bytesEach'))} bytes an answer instead of ${figure(of('identity', 'bytesEach'))}, ${figure(of(coding, 'cpuMsEach'))} ms of the gateway's CPU instead of ${figure(of('identity', 'cpuMsEach'))}; median of ${ROUNDS} rounds, requests from ${generator}`,
    data: { rounds },
  }));
}
