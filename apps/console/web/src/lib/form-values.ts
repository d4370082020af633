/** Handles the fields of a form that is submitted. */
export const onForm =
  (use: (fields: FormData, form: HTMLFormElement) => void) =>
  (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    use(new FormData(form), form);
  };

/** The text of a field without spaces around; undefined: it is empty. */
export function toText(form: FormData, field: string): string | undefined {
  const value = form.get(field);
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' ? undefined : text;
}

/** The number in a field, which may have underscores or commas; null: it is empty. */
export function toNumber(form: FormData, field: string): number | null {
  const text = toText(form, field);
  return text === undefined ? null : Number(text.replace(/[_,]/g, ''));
}

/** The lines of a field that are not empty; commas separate too, unless `between` is given. */
export function toLines(form: FormData, field: string, between: string | RegExp = /[\n,]/): string[] {
  const lines = (toText(form, field) ?? '').split(between).map((line) => line.trim());
  return lines.filter((line) => line !== '');
}

/** The lines `name=number` of a field. */
export function toPairs(form: FormData, field: string): Record<string, number> {
  const pairs = toLines(form, field).map((line) => line.split('='));
  return Object.fromEntries(pairs.map(([name = '', value]) => [name.trim(), Number(value)]));
}

/** Numbers by name as lines `name=number`. */
export const toPairLines = (pairs: Readonly<Record<string, number>> = {}): string[] =>
  Object.entries(pairs).map(([name, value]) => `${name}=${value}`);
