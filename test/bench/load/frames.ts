const HEADER_OCTETS = 16;
export const COMMAND = { submit: 4, bindTransceiver: 9 } as const;
export const RESPONSE = 0x8000_0000;

/** Splits a stream into PDUs and parses only their headers: the generator must cost less than the subject. */
export class Frames {
  #pending: Buffer = Buffer.alloc(0);

  /** Calls with command_id, status and sequence number of every whole PDU. */
  read(octets: Buffer, onFrame: (command: number, status: number, sequence: number) => void): void {
    const all = this.#pending.length === 0 ? octets : Buffer.concat([this.#pending, octets]);
    let at = 0;
    while (all.length - at >= HEADER_OCTETS) {
      const length = all.readUInt32BE(at);
      if (length < HEADER_OCTETS) throw new Error(`a PDU of ${length} octets`);
      if (all.length - at < length) break;
      onFrame(all.readUInt32BE(at + 4), all.readUInt32BE(at + 8), all.readUInt32BE(at + 12));
      at += length;
    }
    this.#pending = all.subarray(at);
  }
}

/** A PDU with the given body; bit 31 of the command marks a response. */
export function frame(command: number, sequence: number, body = '', status = 0): Buffer {
  const octets = Buffer.alloc(HEADER_OCTETS + body.length);
  octets.writeUInt32BE(octets.length, 0);
  octets.writeUInt32BE(command, 4);
  octets.writeUInt32BE(status, 8);
  octets.writeUInt32BE(sequence, 12);
  octets.write(body, HEADER_OCTETS, 'latin1');
  return octets;
}

/** ESM class, protocol, priority, two empty times, registered delivery, replace, data coding, default message. */
const SUBMIT_MIDDLE = '\0\0\0\0\0\0\0\0\0';

/** A submit_sm with GSM characters that are ASCII, from an international number to the product's. */
export function submitFrame(source: string, text: string, sequence: number): Buffer {
  const addresses = `\0\x01\x01${source}\0\x01\x0114155550199\0`;
  return frame(COMMAND.submit, sequence, `${addresses}${SUBMIT_MIDDLE}${String.fromCharCode(text.length)}${text}`);
}
