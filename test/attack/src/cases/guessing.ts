import { victims } from '../ground/beside.js';
import { type AttackCase, openTarget, sendAgain, smallCall } from '../ground/case.js';
import { counted } from '../ground/finding.js';
import { getStatuses } from '../programs/misbehaviour-report.js';

const CONNECTIONS = 16;
/** 401s that one address may get: what it may ask in a second without a key, for as long, and some to begin with. */
const A_SECOND = 25;
const TO_BEGIN_WITH = 250;

/** Keys that do not exist, each once, from one address. */
export const attackGuessing: AttackCase = async (options) => {
  const target = await openTarget(options);
  const guess = sendAgain(
    target.rpc('main', 'ph_{random}'),
    { text: smallCall('0x1', 'latest') },
    CONNECTIONS,
  );
  const seen = await target.beside([guess], options.seconds);
  const [client] = seen.clients;
  const guessed = client?.statuses['401'] ?? 0;
  const bound = TO_BEGIN_WITH + A_SECOND * (options.seconds + 1);
  const what = `keys guessed on ${CONNECTIONS} connections`;
  return [
    ...victims('guessing', what, seen),
    counted('guessing', `${what}: guesses answered`, {
      got: client === undefined ? 'nothing' : getStatuses(client),
      bound: `at most ${bound} x 401`,
      held: client !== undefined && guessed <= bound && client.sent > guessed,
    }),
  ];
};
