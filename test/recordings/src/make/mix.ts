import { type Call, createCalls, nested, script } from './calls.js';
import { LOGGING } from './contracts.js';
import { createDice } from './made-values.js';
import type { Send } from './transactions.js';

/** What the forks add that transactions use. */
export type Era = 'frontier' | 'byzantium' | 'constantinople';

export interface Mix {
  /** Decides all that looks random. */
  name: string;
  count: number;
  /** Types of the transactions, each as often as it is named. */
  types: readonly Send['type'][];
  era?: Era;
  /** Among the legacy transactions, each so-manieth names no chain. Default: none. */
  unprotectedEvery?: number;
  /** Whether deployments are among them. Default: yes. */
  deploys?: boolean;
}

/**
 * Transactions that are as different as the fork allows. They begin with one of each type that logs and has no access
 * list, for tests that look for such a one; later ones have access lists now and then.
 */
export function toMix(mix: Mix): Send[] {
  const { name, count, types, era = 'constantinople', unprotectedEvery = 0 } = mix;
  const dice = createDice(`mix ${name}`);
  const calls = createCalls(dice);
  const leads = [...new Set(types)].map((type): Send => ({ call: calls.transfer(), type, blobs: 2 }));
  const menu = toMenu(calls, era, mix.deploys ?? true);
  const rest = Array.from({ length: Math.max(0, count - leads.length) }, (_, at): Send => {
    const call = menu[at % menu.length]!();
    const type = dice.pick(types);
    // transactions with blobs or authorizations cannot create
    const fits = call.to === undefined && type > 2 ? 2 : type;
    return {
      call,
      type: fits,
      listed: dice.below(3) > 0,
      blobs: 1 + dice.below(2),
      unprotected: fits === 0 && unprotectedEvery > 0 && dice.below(unprotectedEvery) === 0,
    };
  });
  return [...leads, ...rest].slice(0, count);
}

function toMenu(calls: ReturnType<typeof createCalls>, era: Era, deploys: boolean): (() => Call)[] {
  const { transferStep, payStep, balanceStep } = calls;
  const logOf = (topics: number) => (): Call => calls.log(topics, topics);
  const later = era !== 'frontier';
  return [
    () => script(300_000, transferStep(), payStep()),
    calls.pay,
    calls.transfer,
    calls.approve,
    calls.log.bind(null, 0, 0),
    calls.refused,
    calls.transferOne,
    () => script(400_000, nested(200_000, transferStep(), payStep()), transferStep()),
    calls.transferSingle,
    ...(deploys ? [calls.deploy] : []),
    logOf(1),
    () => calls.note(4),
    () =>
      script(
        300_000,
        { does: 'callcode', target: LOGGING.address, payload: `0x${'0'.repeat(64)}` },
        transferStep(),
      ),
    ...(later
      ? [
          () =>
            script(
              500_000,
              { does: 'delegatecall', target: LOGGING.address, payload: `0x${'0'.repeat(64)}` },
              balanceStep(),
              nested(200_000, transferStep(), { does: 'revert', payload: '0x08c379a0' }),
              transferStep(),
            ),
          () => script(100_000, transferStep(), { does: 'revert', payload: '0x4e487b71' }),
        ]
      : []),
    logOf(3),
    calls.spin,
    calls.pay,
    () => script(400_000, transferStep(), transferStep(), transferStep(), transferStep(), transferStep()),
    ...(deploys
      ? [calls.failedDeploy, () => script(400_000, calls.deployStep('create'), transferStep())]
      : []),
    logOf(2),
    () => calls.note(40),
    ...(era === 'constantinople' && deploys
      ? [() => script(500_000, calls.deployStep('create2'), calls.diesAtBirth('create2'), transferStep())]
      : []),
    logOf(4),
    () => script(300_000, { does: 'store', target: '0x7', value: 9n }, calls.diesAtBirth(), transferStep()),
    () => script(150_000, nested(60_000, { does: 'badJump' }), nested(60_000, { does: 'invalid' })),
    calls.transfer,
  ];
}
