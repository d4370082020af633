/** Parts of a whole, in the colours of the map; `label` says them to those who do not see it. */
export function Meter({ parts, label }: { parts: Readonly<Record<string, number>>; label: string }) {
  const whole = Object.values(parts).reduce((sum, part) => sum + part, 0);
  return (
    <span class="meter" role="img" aria-label={label} title={label}>
      {whole > 0 &&
        Object.entries(parts).map(
          ([name, part]) => part > 0 && <span key={name} class={name} style={{ flexGrow: part / whole }} />,
        )}
    </span>
  );
}
