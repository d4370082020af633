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

/** What narrows a list: a part of names, as it is typed, and a choice. */
export const ListFilter = <K extends string>(
  given: Parameters<typeof Segments<K>>[0] & {
    placeholder: string;
    search: string;
    setSearch: (text: string) => void;
  },
) => (
  <div class="toolbar">
    <input
      type="search"
      aria-label={`Search ${given.label.toLowerCase()}`}
      placeholder={given.placeholder}
      value={given.search}
      onInput={(event) => given.setSearch(event.currentTarget.value)}
    />
    <Segments {...given} />
  </div>
);
