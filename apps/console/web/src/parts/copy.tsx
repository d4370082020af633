import { useState } from 'preact/hooks';

/** Text to copy, with a button that does; where the browser does not let it, the text is selected. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState('');
  const copy = async (event: MouseEvent): Promise<void> => {
    const code = (event.currentTarget as HTMLElement).previousElementSibling;
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied.');
    } catch {
      if (code !== null) getSelection()?.selectAllChildren(code);
      setSaid('Selected: press Ctrl-C.');
    }
  };
  return (
    <div class="copy">
      <pre>{text}</pre>
      <button type="button" onClick={copy} aria-label={`Copy ${label}`}>
        Copy
      </button>
      <span role="status">{said}</span>
    </div>
  );
}
