// Exit code 0 if the process of this container answers /healthz: at METRICS_PORT, or at CONSOLE_PORT, which the console has.
const { METRICS_PORT = '9464', CONSOLE_PORT = '8090' } = process.env;

const asked = [METRICS_PORT, CONSOLE_PORT].map(async (port) => {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4_000) });
  if (!response.ok) throw new Error(`port ${port} answers ${response.status}`);
});
await Promise.any(asked).catch(({ errors }) => {
  process.stderr.write(`Nothing is healthy here: ${errors.map((error) => error.message).join('; ')}.\n`);
  process.exit(1);
});
