import type { ElementHandle } from 'playwright-core';

/** What is written into empty fields before the button beside them is pressed, by their names. `n`: of this press. */
const VALUES: Readonly<Record<string, (n: number) => string>> = {
  name: (n) => `made-${n}`,
  application: (n) => `made-${n}`,
  provider: (n) => `provider-${n}.example`,
  url: () => 'https://receiver.example/in',
  recipients: () => 'ada@example.com',
  command: () => 'audit --sample 0.01',
  cron: () => '0 3 * * *',
  origins: () => 'https://shop.example',
  reason: () => 'Maintenance',
  block: () => '17000123',
  unitsPerSecond: () => '100',
  // Of the quarantined block.
  from: () => '17000123',
  to: () => '17000123',
  perSecond: () => '100',
  overlapHours: () => '24',
};
/** What forms need though their fields may be empty each. */
const NEEDED = ['recipients', 'origins', 'perSecond'];
/** A field without a form has no name: that of the reason why a node is cordoned, which is needed. */
const NAMELESS = 'reason';

interface Field {
  name: string;
  value: string;
  required: boolean;
  checkVisibility(): boolean;
}

/** Fills what the button of a form, or of something that was opened, needs. */
export async function fillFields(button: ElementHandle, n: number): Promise<void> {
  const fields = await button.evaluateHandle(
    (element: {
      tagName: string;
      closest(selector: string): { querySelectorAll(selector: string): Iterable<Field> } | null;
    }) => {
      const around =
        element.tagName === 'BUTTON' ? (element.closest('form') ?? element.closest('details')) : null;
      return [...(around?.querySelectorAll('input, textarea') ?? [])].filter(
        (field) => field.value === '' && field.checkVisibility(),
      );
    },
  );
  const empty = (
    await fields.evaluate((all) => all.map(({ name, required }) => ({ name, required })))
  ).entries();
  for (const [at, { name, required }] of empty) {
    const known = name === '' ? NAMELESS : name;
    const value = VALUES[known]?.(n);
    if (value === undefined || !(required || name === '' || NEEDED.includes(known))) continue;
    const field = (await fields.getProperty(String(at))).asElement();
    await field?.fill(value);
  }
  await fields.dispose();
}
