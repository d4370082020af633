import type { Answer } from '../../lib/answers.js';
import { formatBlocks, formatTime } from '../../lib/format.js';
import { toHref } from '../../lib/route.js';
import { ActionButton } from '../../parts/changes.js';
import { Facts } from '../../parts/facts.js';
import { FindingItem } from '../../parts/finding.js';
import { ButtonLink } from '../../parts/navigation.js';
import { Page } from '../../parts/page.js';
import { Read } from '../../parts/states.js';
import { BLOCK_STATES } from './block-states.js';

type Quarantined = Answer<'quarantine/show'>;
type Try = Quarantined['tried'][number];

/** One quarantined block: the field that is wrong with what each node sent, and what to do. */
export function QuarantinedBlock({ network, block }: { network: string; block: string }) {
  return (
    <Page
      title={`Block ${block} of ${network}`}
      above={[['quarantine', 'Quarantine', { network }]]}
      actions={
        <>
          <ButtonLink
            label="View on the map"
            href={toHref('coverage', { network, from: block, to: block })}
          />
          <ButtonLink label="View nodes" href={toHref('nodes', { network })} />
        </>
      }
    >
      <Read name="quarantine/show" input={{ network, block }}>
        {(row) => (
          <>
            <ul class="findings">
              <FindingItem
                tone="bad"
                since={row.firstSeen}
                until={row.due ? new Date(0).toISOString() : row.nextTry}
                ends="next retry"
                detail={row.advice}
                action={
                  <ActionButton name="quarantine/retry" input={{ network, from: row.from, to: row.to }}>
                    Retry now
                  </ActionButton>
                }
              >
                <strong>{row.cause}</strong> <bdi>{row.message}</bdi>
              </FindingItem>
            </ul>
            <Facts
              rows={{
                Blocks: formatBlocks(row),
                Attempts: `${row.attempts} since ${formatTime(row.firstSeen)}`,
                Kinds: (
                  <ul class="plain">
                    {Object.entries(row.standing).map(([kind, state]) => {
                      const cure = BLOCK_STATES[state]?.({ network, kind, block: row.from });
                      return (
                        <li key={kind}>
                          {kind} {state} {cure !== undefined && <a href={cure.href}>{cure.label}</a>}
                        </li>
                      );
                    })}
                  </ul>
                ),
              }}
            />
            <h2>Responses by upstream</h2>
            <Responses network={network} tried={row.tried} />
          </>
        )}
      </Read>
    </Page>
  );
}

/** What the header demands beside what each upstream sent. */
function Responses({ network, tried }: { network: string; tried: readonly Try[] }) {
  const digests = [...new Set(tried.flatMap(({ payloadDigest }) => payloadDigest ?? []))];
  const sent = tried.filter(({ payloadDigest }) => payloadDigest !== null).length;
  const demanded = new Map(
    tried.flatMap(({ differs }) => (differs === undefined ? [] : [[differs.field, differs.expected]])),
  );
  return (
    <>
      <p class={digests.length > 1 ? 'bad' : 'faint'}>
        {sent < 2
          ? 'Fewer than two upstreams sent a response, so there is nothing to compare.'
          : digests.length === 1
            ? `All ${sent} responses are identical, byte for byte.`
            : `${digests.length} different responses: at least one upstream is wrong.`}
      </p>
      <section class="compare" aria-label="Responses">
        {demanded.size > 0 && (
          <div class="card good">
            <h3>Expected</h3>
            <p class="faint">from the header or other parts of the block</p>
            {[...demanded].map(([field, value]) => (
              <Value key={field} field={field} value={value ?? ''} />
            ))}
          </div>
        )}
        {tried.map((each, index) => (
          <Response
            key={index}
            network={network}
            one={each}
            letter={each.payloadDigest === null ? null : 'ABCDEFGHIJ'[digests.indexOf(each.payloadDigest)]}
          />
        ))}
      </section>
    </>
  );
}

function Response({
  network,
  one,
  letter,
}: {
  network: string;
  one: Try;
  letter: string | null | undefined;
}) {
  const { cause, differs, message, payloadDigest, upstream } = one;
  return (
    <div class="card bad">
      <h3>
        <a href={toHref('nodes', { network, search: upstream.slice(0, 100) })}>
          <bdi>{upstream}</bdi>
        </a>
      </h3>
      <p class="faint">
        {cause}
        {letter !== null && `, response ${letter ?? '?'}`}
      </p>
      {differs === undefined ? (
        <p>
          <bdi>{message}</bdi>
        </p>
      ) : (
        <>
          <Value field={differs.field} value={differs.got} />
          <details>
            <summary>Message</summary>
            <bdi>{message}</bdi>
          </details>
        </>
      )}
      {payloadDigest !== null && (
        <details>
          <summary>SHA-256 of the response</summary>
          <code>{payloadDigest}</code>
        </details>
      )}
    </div>
  );
}

const Value = ({ field, value }: { field: string; value: string }) => (
  <>
    <code>{field}</code>
    <pre>
      <bdi>{value}</bdi>
    </pre>
  </>
);
