// SPDX-License-Identifier: Apache-2.0
// Asks the service for the labels of Fashion-MNIST's test pictures, and says how many are right. Nothing in it is
// levada's: it has gRPC's own library and the protocol's published definition.
//
//   npm install @grpc/grpc-js @grpc/proto-loader
//   node client.js 127.0.0.1:8001 open_inference_grpc.proto FOLDER [PICTURES]

'use strict';
const fs = require('fs');
const zlib = require('zlib');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const [address, definition, folder, most = '1000'] = process.argv.slice(2);
const inference = grpc.loadPackageDefinition(loader.loadSync(definition, {keepCase: true, longs: Number})).inference;
const client = new inference.GRPCInferenceService(address, grpc.credentials.createInsecure());
const call = (method, request) => new Promise((resolve, reject) =>
  client[method](request, (error, response) => error ? reject(error) : resolve(response)));

const read = name => zlib.gunzipSync(fs.readFileSync(`${folder}/${name}-ubyte.gz`));
const pictures = read('t10k-images-idx3').subarray(16);
const labels = read('t10k-labels-idx1').subarray(8);
const size = 28 * 28;

async function labelsOf(first, count) {
  const answer = await call('ModelInfer', {
    model_name: 'fashion_mnist',
    inputs: [{name: 'input', datatype: 'UINT8', shape: [count, 1, 28, 28]}],
    raw_input_contents: [pictures.subarray(first * size, (first + count) * size)],
  });
  const raw = answer.raw_output_contents[0];
  return Array.from({length: count}, (_, i) => raw.readInt32LE(4 * i));
}

async function main() {
  const model = await call('ModelMetadata', {name: 'fashion_mnist'});
  for (const tensor of [...model.inputs, ...model.outputs])
    console.log(`${tensor.name}: ${tensor.datatype} [${tensor.shape}]`);
  const count = Math.min(Number(most), labels.length), together = 50;
  const asked = [];
  for (let first = 0; first < count; first += together) asked.push(labelsOf(first, Math.min(together, count - first)));
  const found = (await Promise.all(asked)).flat();
  const right = found.filter((label, i) => label === labels[i]).length;
  console.log(`${right} of ${count} labels are right`);
  client.close();
}
main().catch(error => {
  console.error(error.message);
  process.exit(1);
});
