/** One SQL statement; it is prepared under its name, once a connection. */
export interface Statement {
  /** Folder and file. */
  name: string;
  text: string;
}

/** A statement of the file that calls it. */
export function statement(name: string, text: string): Statement {
  return { name, text };
}
