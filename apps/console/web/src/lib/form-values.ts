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
