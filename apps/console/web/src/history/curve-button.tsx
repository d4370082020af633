import type { ComponentChildren, ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { useRoute } from '../lib/route.js';
import { Sparkline } from '../parts/sparkline.js';
import { type CurveOf, describeOf, FIGURES } from './figures.js';
import './curve-button.css';
import { useMinutely } from './use-minutely.js';

type Dialog = ComponentType<{ of: CurveOf; figure: string; close: () => void }>;

/**
 * A sparkline, or its children, that opens the curve of a figure; without points it says History. The curve is loaded
 * when it is opened.
 */
export function CurveButton({
  of,
  figure,
  points,
  children: content,
}: {
  of: CurveOf;
  figure: string;
  points?: readonly (number | null)[] | undefined;
  children?: ComponentChildren;
}) {
  const [Dialog, setDialog] = useState<Dialog>();
  const [isOpen, setOpen] = useState(false);
  const [failed, setFailed] = useState(false);
  const label = `${FIGURES[figure]?.label ?? figure} of ${describeOf(of)} over time`;
  const open = (): void => {
    setOpen(true);
    setFailed(false);
    import('./curve-dialog.js').then(
      ({ CurveDialog }) => setDialog(() => CurveDialog),
      () => setFailed(true),
    );
  };
  const known = points?.some((value) => value !== null) === true;
  return (
    <>
      <button
        type="button"
        class={content === undefined ? 'curve' : 'curve figure'}
        aria-haspopup="dialog"
        aria-label={content !== undefined ? undefined : known ? label : `History: ${label}`}
        title={label}
        onClick={open}
      >
        {content ?? (known ? <Sparkline values={points} label={label} /> : 'History')}
        {content !== undefined && <span class="unseen">: {label}</span>}
      </button>
      {failed && (
        <span class="bad" role="alert">
          The chart failed to load. Try again.
        </span>
      )}
      {isOpen && Dialog !== undefined && <Dialog of={of} figure={figure} close={() => setOpen(false)} />}
    </>
  );
}

/** The last hour of a figure of the selected network, or of the installation. */
export function TotalCurve({ figure }: { figure: string }) {
  const { network } = useRoute().query;
  const of = network === undefined ? {} : { network };
  const figures = useMinutely('history', { ...of, last: '1h' })?.figures;
  // A network has fewer figures than all together.
  if (figures !== undefined && figures[figure] === undefined) return null;
  return <CurveButton of={of} figure={figure} points={figures?.[figure]} />;
}

/** The last hour of a row: the published blocks of a network, or the calls of a node. */
export function RowCurve({ network, upstream }: { network: string; upstream?: string }) {
  const isNode = upstream !== undefined;
  const rows = useMinutely('history/sparklines', { of: isNode ? 'node' : 'network' })?.rows;
  const row = rows?.find((each) => each.network === network && each.upstream === upstream);
  const of = isNode ? { network, upstream } : { network };
  return <CurveButton of={of} figure={isNode ? 'calls' : 'blocks'} points={row?.points} />;
}
