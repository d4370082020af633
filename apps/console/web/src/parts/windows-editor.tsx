import { useRef, useState } from 'preact/hooks';
import { CLOSED, DAYS, toWeek, toWindows } from '../lib/windows.js';

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const MOVES: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -HOURS.length,
  ArrowDown: HOURS.length,
};

/** Windows as a grid of the hours of a week, and as text, which the form sends as the field `windows`. */
export function WindowsEditor({
  initial,
  legend = 'Time windows (none: always)',
}: {
  initial: readonly string[];
  legend?: string;
}) {
  const [text, setText] = useState(initial.join('\n'));
  const [zone, setZone] = useState(
    toWeek(initial)?.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC',
  );
  const [at, setAt] = useState(0);
  /** The state of hours while the pointer is down. */
  const painting = useRef(true);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const known = lines.length === 0 ? { week: CLOSED, zone } : toWeek(lines);
  const set = (hour: number, open: boolean): void => {
    if (known === null) return;
    setText(toWindows(known.week.with(hour, open), zone).join('\n'));
  };
  const move = (event: KeyboardEvent): void => {
    const step = MOVES[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (at + step + CLOSED.length) % CLOSED.length;
    setAt(next);
    const frame = (event.currentTarget as HTMLElement).closest('table');
    frame?.querySelector<HTMLElement>(`[data-hour="${next}"]`)?.focus();
  };
  const enter = (event: PointerEvent, hour: number): void => {
    // While the button is down, hours become what the first one became.
    if (event.buttons === 1 && known !== null) set(hour, painting.current);
  };
  return (
    <fieldset>
      <legend>{legend}</legend>
      <ZoneField
        zone={zone}
        choose={(name) => {
          setZone(name);
          if (known !== null) setText(toWindows(known.week, name).join('\n'));
        }}
      />
      {known === null ? (
        <p class="faint">These windows have minutes or several time zones. Edit them as text.</p>
      ) : (
        <table class="week">
          <caption class="unseen">Hours of the week. Arrow keys move, Space toggles an hour.</caption>
          <HourHeads />
          <tbody>
            {DAYS.map((day, row) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                {HOURS.map((hour) => {
                  const index = row * HOURS.length + hour;
                  const open = known.week[index] === true;
                  return (
                    <td key={hour}>
                      <button
                        type="button"
                        data-hour={index}
                        tabIndex={index === at ? 0 : -1}
                        aria-pressed={open}
                        aria-label={`${day} ${hour}:00`}
                        title={`${day} ${hour}:00`}
                        onFocus={() => setAt(index)}
                        onKeyDown={move}
                        onPointerDown={() => {
                          painting.current = !open;
                        }}
                        onPointerLeave={(event) => enter(event, index)}
                        onPointerEnter={(event) => enter(event, index)}
                        onClick={() => set(index, !open)}
                      >
                        {open ? '■' : ''}
                      </button>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <label>
        As text, one per line
        <textarea
          name="windows"
          rows={Math.max(2, lines.length)}
          value={text}
          placeholder="Mon-Fri 20:00-06:00 Europe/Berlin"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
    </fieldset>
  );
}

const ZoneField = ({ zone, choose }: { zone: string; choose: (zone: string) => void }) => (
  <label>
    Time zone <input value={zone} list="zones" onInput={(event) => choose(event.currentTarget.value)} />
    <datalist id="zones">
      {Intl.supportedValuesOf('timeZone').map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  </label>
);

const HourHeads = () => (
  <thead aria-hidden="true">
    <tr>
      <th />
      {[0, 6, 12, 18].map((hour) => (
        <th key={hour} colSpan={6}>
          {hour}:00
        </th>
      ))}
    </tr>
  </thead>
);
