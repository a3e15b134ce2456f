// The part of ringbuf.js that the benchmark calls. The types of the package name types that it does not have.
declare module 'ringbuf.js' {
  export class RingBuffer {
    static getStorageForCapacity(capacity: number, type: Uint8ArrayConstructor): SharedArrayBuffer;
    constructor(storage: SharedArrayBuffer, type: Uint8ArrayConstructor);
    push(elements: Uint8Array): number;
    pop(elements: Uint8Array): number;
    available_read(): number;
    available_write(): number;
  }
}
