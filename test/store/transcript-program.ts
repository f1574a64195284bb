// A program for the test that kills it: `transcript-program.ts FOLDER SEQ` appends line after line from that number on, and
// names the last number of each append that was acknowledged.
import { writeSync } from 'node:fs';
import { transcriptFiles } from '../../src/store/transcripts/transcript-files.ts';

const [folder = '', from = '1'] = process.argv.slice(2);
const transcripts = transcriptFiles(folder, { totalBytes: 100_000_000, segmentBytes: 50_000 });
for (let seq = Number(from); ; seq += 10) {
  const lines = Array.from({ length: 10 }, (_, index) => `{"seq":${seq + index},"text":"${'x'.repeat(3_000)}"}`);
  await transcripts.append('r', lines);
  writeSync(1, `${seq + 9}\n`);
}
