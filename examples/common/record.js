// SPDX-License-Identifier: Apache-2.0
// Records what ONNX Runtime (npm's onnxruntime-node) gives, for the examples whose networks come from ONNX files:
//
//   node record.js MODEL OUT.safetensors [input=FILE:1,128,128,3 ...] [--constant sr=16000] [--state stateN=state]
//                  [--step output=64]
//
// A FILE has the items of an input one behind the other, as floats; all files have as many. What is recorded of an
// output is that of all items, or every so many-th element of it. A state begins with zeros.
const ort = require('onnxruntime-node');
const fs = require('fs');

const [model, out, ...rest] = process.argv.slice(2);
const inputs = {}, constants = {}, states = {}, steps = {};
for (let i = 0; i < rest.length; ++i) {
  const into = {'--constant': constants, '--state': states, '--step': steps}[rest[i]];
  const [name, value] = (into ? rest[++i] : rest[i]).split('=');
  (into ?? inputs)[name] = value;
}

const elements = (dims) => dims.reduce((a, b) => a * b, 1);
const floats = (file) => {
  const bytes = fs.readFileSync(file);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
};

(async () => {
  const session = await ort.InferenceSession.create(model);
  const given = Object.entries(inputs).map(([name, text]) => {
    const [file, dims] = text.split(':');
    return {name, all: floats(file), dims: dims.split(',').map(Number)};
  });
  const items = given[0].all.length / elements(given[0].dims);
  const feeds = {}, recorded = {};
  for (const [name, value] of Object.entries(constants)) feeds[name] = new ort.Tensor('int64', [BigInt(value)], []);
  for (const text of Object.values(states)) {
    const [name, dims] = text.split(':');
    const shape = dims.split(',').map(Number);
    feeds[name] = new ort.Tensor('float32', new Float32Array(elements(shape)), shape);
  }
  for (let item = 0; item < items; ++item) {
    for (const {name, all, dims} of given) {
      const size = elements(dims);
      feeds[name] = new ort.Tensor('float32', all.slice(item * size, (item + 1) * size), dims);
    }
    const results = await session.run(feeds);
    for (const name of session.outputNames)
      if (name in states) feeds[states[name].split(':')[0]] = results[name];
      else for (const x of results[name].data) (recorded[name] ??= []).push(x);
  }
  const metadata = {}, header = {}, parts = [];
  let at = 0;
  for (const [name, all] of Object.entries(recorded)) {
    const step = Number(steps[name] ?? 1), short = name.replace(/:0$/, '');
    const kept = Float32Array.from(all.filter((_, i) => i % step === 0));
    if (step !== 1) metadata[short + '.step'] = String(step);
    header[short] = {dtype: 'F32', shape: [kept.length], data_offsets: [at, at += kept.byteLength]};
    parts.push(Buffer.from(kept.buffer));
  }
  const text = Buffer.from(JSON.stringify({__metadata__: metadata, ...header}));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  fs.writeFileSync(out, Buffer.concat([size, text, ...parts]));
})();
