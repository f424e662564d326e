/* PDUs on a socket and lines on standard input, for the ESME and the SMSC on libsmpp34. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <smpp34.h>
#include <smpp34_structs.h>
#include <smpp34_params.h>

#define HEADER_OCTETS 16
#define MAX_PDU_OCTETS 8192
#define MAX_LINE 8192
#define MAX_WORDS 10
#define RESPONSE 0x80000000u

/* Every PDU begins with these four fields. */
typedef struct generic_nack_t header_t;

/* Any PDU that the programs read. */
typedef union {
    header_t header;
    bind_transceiver_t bind;
    bind_transceiver_resp_t bind_resp;
    submit_sm_t submit_sm;
    submit_sm_resp_t submit_sm_resp;
    deliver_sm_resp_t deliver_sm_resp;
    data_sm_resp_t data_sm_resp;
    /* Holds every other PDU too. */
    uint8_t most[2 * MAX_PDU_OCTETS];
} pdu_t;

static void fail(const char *what, uint32_t id) {
    printf("failed %s 0x%08x %s\n", what, id, smpp34_strerror);
    exit(1);
}

static void send_pdu(int fd, void *pdu) {
    uint8_t octets[MAX_PDU_OCTETS] = {0};
    uint32_t id = ((header_t *)pdu)->command_id;
    int length = 0;
    if (smpp34_pack(id, octets, sizeof octets, &length, pdu) != 0) fail("packing", id);
    for (int sent = 0; sent < length;) {
        ssize_t count = send(fd, octets + sent, length - sent, MSG_NOSIGNAL);
        if (count <= 0) return;
        sent += count;
    }
}

/* A PDU without a body. */
static void send_bare(int fd, uint32_t id, uint32_t status, uint32_t sequence) {
    header_t pdu = {.command_id = id, .command_status = status, .sequence_number = sequence};
    send_pdu(fd, &pdu);
}

static int read_octets(int fd, uint8_t *octets, uint32_t length) {
    for (uint32_t have = 0; have < length;) {
        ssize_t count = read(fd, octets + have, length - have);
        if (count <= 0) return 0;
        have += count;
    }
    return 1;
}

/* Reads the next PDU into zeroed memory; 0 at the end of the connection. The library must decode every one. */
static int read_pdu(int fd, pdu_t *pdu) {
    uint8_t octets[MAX_PDU_OCTETS];
    if (!read_octets(fd, octets, HEADER_OCTETS)) return 0;
    uint32_t length = ntohl(*(uint32_t *)octets), id = ntohl(*(uint32_t *)(octets + 4));
    if (length < HEADER_OCTETS || length > sizeof octets) fail("reading", id);
    if (!read_octets(fd, octets + HEADER_OCTETS, length - HEADER_OCTETS)) return 0;
    memset(pdu, 0, sizeof *pdu);
    if (smpp34_unpack(id, pdu, octets, length) != 0) fail("unpacking", id);
    return 1;
}

/* Reads a line octet by octet, so that poll sees what is unread, and splits it; the number of words, 0 at the end. */
static int read_words(char line[MAX_LINE], char *words[MAX_WORDS]) {
    int length = 0, count = 0;
    while (length < MAX_LINE - 1 && read(STDIN_FILENO, line + length, 1) == 1 && line[length] != '\n') length++;
    line[length] = '\0';
    for (int at = 0; at < MAX_WORDS; at++) words[at] = "";
    for (char *word = strtok(line, " "); word != NULL && count < MAX_WORDS; word = strtok(NULL, " ")) {
        words[count++] = word;
    }
    return count;
}

/* The octets of a text in hexadecimal; returns their number. */
static int from_hex(const char *hex, uint8_t *octets, int most) {
    int length = 0;
    for (unsigned octet; length < most && sscanf(hex + 2 * length, "%2x", &octet) == 1; length++) {
        octets[length] = octet;
    }
    return length;
}

static void print_hex(const uint8_t *octets, int length) {
    for (int at = 0; at < length; at++) printf("%02x", octets[at]);
}

static void set(uint8_t *field, const char *text) { strcpy((char *)field, text); }

static void add_tlv(tlv_t **list, uint16_t tag, const void *octets, uint16_t length) {
    tlv_t tlv = {.tag = tag, .length = length};
    memcpy(tlv.value.octet, octets, length);
    if (build_tlv(list, &tlv) != 0) fail("building a TLV", tag);
}

static void add_number(tlv_t **list, uint16_t tag, uint16_t value, uint16_t length) {
    tlv_t tlv = {.tag = tag, .length = length};
    if (length == 1) tlv.value.val08 = value;
    else tlv.value.val16 = value;
    if (build_tlv(list, &tlv) != 0) fail("building a TLV", tag);
}

/* What submit_sm, deliver_sm and data_sm have in common: both addresses are international numbers. */
#define ADDRESS(pdu, from, to)                                                                       \
    (pdu).source_addr_ton = (pdu).dest_addr_ton = TON_International;                                  \
    (pdu).source_addr_npi = (pdu).dest_addr_npi = NPI_ISDN_E163_E164;                                 \
    set((pdu).source_addr, from);                                                                    \
    set((pdu).destination_addr, to)

#define TEXT(pdu, hex) (pdu).sm_length = from_hex(hex, (pdu).short_message, sizeof (pdu).short_message)
