// Loaded into the agents by NODE_OPTIONS. The scripted agent ends when its input is closed, and so with its daemon; some
// real agents do not. With this it continues its turn, and only a signal ends it before
// the turn is over. In every other program it does nothing.
const isAgent = process.argv[1]?.includes('rehearsal/program') ?? false;
if (isAgent) {
  let isTurnOver = false;
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk: string | Uint8Array) => {
    isTurnOver ||= String(chunk).includes('"turn_completed"');
    return write(chunk);
  };
  // No process reads the output now.
  process.stdout.on('error', () => {});
  const exit = process.exit.bind(process);
  process.exit = ((code?: number) => {
    if (isTurnOver) exit(code);
    setInterval(() => {}, 1_000_000);
    // The program awaits nothing after this; it must not get a rejection.
    return undefined;
  }) as typeof process.exit;
}
