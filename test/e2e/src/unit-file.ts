/** What a unit of systemd says about the process that it starts. */
export interface UnitFile {
  /** The words of ExecStart. */
  command: string[];
  env: Record<string, string>;
  /** Files by the name of their credential. */
  credentials: Record<string, string>;
  user: string;
  directory: string;
  /** Folders that may be written. */
  writable: string[];
  umask: string;
  /** Whether it reports that it is ready; else its end is waited for. */
  notifies: boolean;
}

/**
 * Reads a unit of `packhouse install --systemd`. `specifiers`: what `%i`, the instance, and `%d`, the folder of
 * credentials, stand for. `readSettings` returns the text of an EnvironmentFile, whose variables come before those of the
 * unit whatever their order.
 */
export function readUnit(
  text: string,
  specifiers: { i: string; d: string },
  readSettings: (file: string) => string,
): UnitFile {
  const expanded = text.replaceAll(/%([id%])/g, (_, letter: string) =>
    letter === '%' ? '%' : specifiers[letter as 'i' | 'd'],
  );
  const values = (name: string): string[] =>
    [...expanded.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
  const one = (name: string): string => {
    const [value, ...more] = values(name);
    if (value === undefined || more.length > 0) throw new Error(`the unit needs one ${name}`);
    return value;
  };
  const pairs = (lines: readonly string[], between: string): Record<string, string> =>
    Object.fromEntries(
      lines.map((line) => {
        const at = line.indexOf(between);
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    );
  const files = values('EnvironmentFile').map((file) => readSettings(file.replace(/^-/, '')));
  const settings = files.flatMap((file) => file.split('\n')).filter((line) => line !== '');
  return {
    command: one('ExecStart').split(' '),
    env: { ...pairs(values('Environment'), '='), ...pairs(settings, '=') },
    credentials: pairs(values('LoadCredential'), ':'),
    user: one('User'),
    directory: one('WorkingDirectory'),
    writable: values('ReadWritePaths'),
    umask: one('UMask'),
    notifies: one('Type') === 'notify',
  };
}
