import { access, constants } from 'node:fs/promises';
import path from 'node:path';

/** The path of a program of this machine, or null. Also looks in the folders of administrators' programs. */
export async function findProgram(name: string): Promise<string | null> {
  for (const folder of [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']) {
    const file = path.join(folder, name);
    if (
      folder !== '' &&
      (await access(file, constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      return file;
  }
  return null;
}
