// SPDX-License-Identifier: Apache-2.0
// What a client that is not ours sees of a service: @grpc/grpc-js with the protocol's published definition. Exits with
// 1 at the first sentence that does not hold. node grpc_js.js ADDRESS open_inference_grpc.proto

'use strict';
const assert = require('assert');
const fs = require('fs');
const os = require('os');
const path = require('path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const [address, definition] = process.argv.slice(2);
const options = {keepCase: true, longs: Number};
const published = loader.loadSync(definition, options);
const inference = grpc.loadPackageDefinition(published).inference;
const client = new inference.GRPCInferenceService(address, grpc.credentials.createInsecure());
const call = (method, request, callOptions = {}) => new Promise((resolve, reject) =>
  client[method](request, new grpc.Metadata(), callOptions,
    (error, answer) => error ? reject(error) : resolve(answer)));

// The parts of two other definitions of gRPC's that are asked for here.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'levada-'));
const load = (name, text) => {
  fs.writeFileSync(path.join(folder, name), text);
  return grpc.loadPackageDefinition(loader.loadSync(path.join(folder, name), options)).grpc;
};
const {Health} = load('health.proto', `syntax = "proto3"; package grpc.health.v1;
  message HealthCheckRequest { string service = 1; }
  message HealthCheckResponse { int32 status = 1; }
  service Health { rpc Check(HealthCheckRequest) returns (HealthCheckResponse);
                   rpc Watch(HealthCheckRequest) returns (stream HealthCheckResponse); }`).health.v1;
const {ServerReflection} = load('reflection.proto', `syntax = "proto3"; package grpc.reflection.v1;
  message ServerReflectionRequest { oneof message_request { string file_by_filename = 3;
    string file_containing_symbol = 4; string list_services = 7; } }
  message Files { repeated bytes file_descriptor_proto = 1; }
  message Service { string name = 1; }
  message Services { repeated Service service = 1; }
  message Failure { int32 error_code = 1; string error_message = 2; }
  message ServerReflectionResponse { oneof message_response { Files file_descriptor_response = 4;
    Services list_services_response = 6; Failure error_response = 7; } }
  service ServerReflection {
    rpc ServerReflectionInfo(stream ServerReflectionRequest) returns (stream ServerReflectionResponse); }`)
  .reflection.v1;

const picture = value => Array(784).fill(value);
const request = (change = {}) => ({
  model_name: 'fashion_mnist', id: '7',
  inputs: [{name: 'input', datatype: 'UINT8', shape: [1, 1, 28, 28], contents: {uint_contents: picture(200)}}],
  ...change,
});
async function refused(code, text, wrong) {
  await assert.rejects(call('ModelInfer', wrong), error => {
    assert.strictEqual(error.code, code, error.details);
    assert.strictEqual(error.details, text);
    return true;
  });
}

async function asks_what_is_here() {
  assert.deepStrictEqual(await call('ServerLive', {}), {live: true});
  assert.deepStrictEqual(await call('ServerReady', {}), {ready: true});
  assert.deepStrictEqual(await call('ModelReady', {name: 'fashion_mnist'}), {ready: true});
  await assert.rejects(call('ModelReady', {name: 'fashion_mnist', version: '2'}), {code: grpc.status.NOT_FOUND});
  assert.strictEqual((await call('ServerMetadata', {})).name, 'levada');
  assert.deepStrictEqual(await call('ModelMetadata', {name: 'fashion_mnist'}), {
    name: 'fashion_mnist', versions: ['1'], platform: 'levada',
    inputs: [{name: 'input', datatype: 'UINT8', shape: [-1, 1, 28, 28]}],
    outputs: [{name: 'output', datatype: 'INT32', shape: [-1]}],
  });
}

async function asks_for_labels() {
  const typed = await call('ModelInfer', request());
  const raw = await call('ModelInfer', request({
    inputs: [{name: 'input', datatype: 'UINT8', shape: [1, 1, 28, 28]}], outputs: [{name: 'output'}],
    raw_input_contents: [Buffer.alloc(784, 200)],
  }));
  assert.deepStrictEqual(typed, raw);
  assert.strictEqual(typed.id, '7');
  assert.strictEqual(typed.raw_output_contents[0].length, 4);
  const many = await call('ModelInfer', request({
    inputs: [{name: 'input', datatype: 'UINT8', shape: [3, 1, 28, 28]}],
    raw_input_contents: [Buffer.alloc(3 * 784, 200)],
  }));
  assert.deepStrictEqual(many.outputs[0].shape, [3]);
  for (let i = 0; i < 3; ++i)
    assert.strictEqual(many.raw_output_contents[0].readInt32LE(4 * i), typed.raw_output_contents[0].readInt32LE(0));
}

async function asks_wrongly() {
  const {INVALID_ARGUMENT, NOT_FOUND, DEADLINE_EXCEEDED} = grpc.status;
  await refused(NOT_FOUND, 'no model "digits" is here: this is "fashion_mnist"', request({model_name: 'digits'}));
  const input = change => request({inputs: [{...request().inputs[0], ...change}]});
  await refused(INVALID_ARGUMENT, 'input "input" is FP32, and the model takes UINT8', input({datatype: 'FP32'}));
  await refused(INVALID_ARGUMENT, 'the request has no input "input": it has "x"', input({name: 'x'}));
  await refused(INVALID_ARGUMENT, 'input "input" has the shape [28,28], and the model takes [-1,1,28,28], whose ' +
    'first axis counts items', input({shape: [28, 28]}));
  await refused(INVALID_ARGUMENT, 'input "input" has a number that is no UINT8', input(
    {contents: {uint_contents: picture(300)}}));
  await assert.rejects(call('ModelInfer', request(), {deadline: Date.now() - 1}), {code: DEADLINE_EXCEEDED});
}

function asks_by_reflection() {
  return new Promise((resolve, reject) => {
    const stream = new ServerReflection(address, grpc.credentials.createInsecure()).ServerReflectionInfo();
    const answers = [];
    stream.on('error', reject);
    stream.on('data', answer => answers.push(answer));
    stream.on('end', () => resolve(answers));
    stream.write({list_services: ''});
    stream.write({file_containing_symbol: 'inference.GRPCInferenceService'});
    stream.write({file_by_filename: 'none.proto'});
    stream.end();
  });
}
// The loader names and places the entries of a map in a way of its own where it reads a text.
const comparable = type => JSON.parse(JSON.stringify(type, (key, value) => {
  if (key === 'options') return undefined;
  if (key === 'nestedType') return [...value].sort((a, b) => a.name < b.name ? -1 : 1);
  return typeof value === 'string' ? value.replace(/^(Parameters|Properties)Entry$/, '$1') : value;
}));

async function finds_the_published_definition() {
  const [services, files, none] = await asks_by_reflection();
  assert.deepStrictEqual(services.list_services_response.service, [{name: 'inference.GRPCInferenceService'}]);
  assert.strictEqual(none.error_response.error_code, grpc.status.NOT_FOUND);
  const raw = files.file_descriptor_response.file_descriptor_proto[0];
  const length = [];
  for (let n = raw.length; ; n >>= 7) {
    length.push(n > 127 ? (n & 127) | 128 : n);
    if (n <= 127) break;
  }
  const set = Buffer.concat([Buffer.from([0x0a, ...length]), raw]);
  const found = loader.loadFileDescriptorSetFromBuffer(set, options);
  assert.deepStrictEqual(Object.keys(found).sort(), Object.keys(published).sort());
  let compared = 0;
  for (const [name, type] of Object.entries(published)) {
    if (type.format) {
      assert.deepStrictEqual(comparable(found[name].type), comparable(type.type), name);
      ++compared;
    } else {
      for (const [method, is] of Object.entries(type)) assert.strictEqual(found[name][method].path, is.path);
    }
  }
  assert.strictEqual(compared, 14);
}

function is_healthy() {
  return new Promise((resolve, reject) => {
    const health = new Health(address, grpc.credentials.createInsecure());
    health.Check({service: ''}, (error, answer) => {
      if (error) return reject(error);
      assert.strictEqual(answer.status, 1);
      const watch = health.Watch({service: 'inference.GRPCInferenceService'});
      watch.on('error', () => {});
      watch.on('data', now => {
        assert.strictEqual(now.status, 1);
        watch.cancel();
        resolve();
      });
    });
  });
}

async function main() {
  const sentences = [asks_what_is_here, asks_for_labels, asks_wrongly, finds_the_published_definition, is_healthy];
  for (const sentence of sentences) {
    await sentence();
    console.log('ok  ', sentence.name.replaceAll('_', ' '));
  }
  process.exit(0);
}
main().catch(error => {
  console.error(error);
  process.exit(1);
}).finally(() => fs.rmSync(folder, {recursive: true}));
