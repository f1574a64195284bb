// Loaded into the agents by NODE_OPTIONS. The stand-in agent ends when its input does, and so with its daemon; many a
// real one does not. With this it goes on with its turn as if nothing had happened, and only a signal ends it before
// the turn is over. In every other program it does nothing.
const isAgent = process.argv[1]?.includes('rehearsal/program') ?? false;
if (isAgent) {
  let isTurnOver = false;
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk: string | Uint8Array) => {
    isTurnOver ||= String(chunk).includes('"turn_completed"');
    return write(chunk);
  };
  // Nobody reads any more.
  process.stdout.on('error', () => {});
  const exit = process.exit.bind(process);
  process.exit = ((code?: number) => {
    if (isTurnOver) exit(code);
    setInterval(() => {}, 1_000_000);
    // The program awaits nothing after this; it must not be told that it was refused.
    return undefined;
  }) as typeof process.exit;
}
