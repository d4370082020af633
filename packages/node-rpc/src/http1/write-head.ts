const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Most requests have the same headers object. */
const known = new WeakMap<object, { key: string; text: string }>();

/** The head of a POST without the length of its body and the empty line. Throws for what cannot be in a head. */
export function writeHead(host: string, path: string, headers: Readonly<Record<string, string>>): string {
  const before = known.get(headers);
  const key = `${host} ${path}`;
  if (before?.key === key) return before.text;
  if (!/^[\x21-\x7e]+$/.test(path)) throw new TypeError('a path has characters that no request may have');
  let text = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || !VALUE.test(value))
      throw new TypeError(`the header ${name} has characters that none may have`);
    text += `${name}: ${value}\r\n`;
  }
  known.set(headers, { key, text });
  return text;
}
