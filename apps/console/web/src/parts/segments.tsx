/** A few choices beside each other, of which one is pressed. */
export function Segments<K extends string>(given: {
  label: string;
  options: Readonly<Record<K, string>>;
  value: K;
  choose: (value: K) => void;
}) {
  const { label, options, value, choose } = given;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset has a border and a legend, which a few buttons need not
    <div class="segments" role="group" aria-label={label}>
      {(Object.entries(options) as [K, string][]).map(([each, text]) => (
        <button key={each} type="button" aria-pressed={each === value} onClick={() => choose(each)}>
          {text}
        </button>
      ))}
    </div>
  );
}
