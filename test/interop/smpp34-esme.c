/* An ESME on libsmpp34 that executes the lines of its standard input and prints the answers.
 *   smpp34-esme PORT SYSTEM_ID PASSWORD transceiver|transmitter|receiver */
#include "smpp34-link.h"

static int gateway;
static uint32_t sequence = 1;
static pdu_t pdu;

static void gone(void) {
    puts("gone");
    exit(0);
}

/* Answers a request of the gateway. */
static void answer_request(void) {
    uint32_t id = pdu.header.command_id;
    if (id != ENQUIRE_LINK && id != UNBIND) fail("answering", id);
    send_bare(gateway, id | RESPONSE, ESME_ROK, pdu.header.sequence_number);
    puts(id == UNBIND ? "parted" : "asked");
}

/* Reads up to the next response. */
static void read_response(void) {
    for (;;) {
        if (!read_pdu(gateway, &pdu)) gone();
        if (pdu.header.command_id & RESPONSE) return;
        answer_request();
    }
}

/* Sends a request and reads up to its response. */
static uint32_t ask(void *request) {
    header_t *header = request;
    header->sequence_number = sequence++;
    uint32_t id = header->command_id, asked = header->sequence_number;
    send_pdu(gateway, request);
    do read_response();
    while (pdu.header.sequence_number != asked);
    if (pdu.header.command_id != (id | RESPONSE)) fail("matching the response", pdu.header.command_id);
    return pdu.header.command_status;
}

static void bind_as(const char *kind, const char *system_id, const char *password) {
    bind_transceiver_t bind = {.command_id = BIND_TRANSCEIVER, .interface_version = SMPP_VERSION};
    if (strcmp(kind, "transmitter") == 0) bind.command_id = BIND_TRANSMITTER;
    if (strcmp(kind, "receiver") == 0) bind.command_id = BIND_RECEIVER;
    set(bind.system_id, system_id);
    set(bind.password, password);
    uint32_t status = ask(&bind);
    printf("bound %u %s\n", status, pdu.bind_resp.system_id);
}

static submit_sm_t message(const char *from, const char *to, const char *hex, int coding, int esm_class) {
    submit_sm_t submit = {.command_id = SUBMIT_SM, .data_coding = coding, .esm_class = esm_class};
    ADDRESS(submit, from, to);
    TEXT(submit, hex);
    return submit;
}

static void submit(submit_sm_t request) {
    uint32_t status = ask(&request);
    destroy_tlv(request.tlv);
    printf("submitted %u %s\n", status, pdu.submit_sm_resp.message_id);
}

/* A part of a long message whose number is in TLVs. */
static void submit_part(char **words) {
    submit_sm_t part = message(words[4], words[5], words[6], 0, 0);
    add_number(&part.tlv, TLVID_sar_msg_ref_num, atoi(words[1]), 2);
    add_number(&part.tlv, TLVID_sar_total_segments, atoi(words[2]), 1);
    add_number(&part.tlv, TLVID_sar_segment_seqnum, atoi(words[3]), 1);
    submit(part);
}

static void send_data(const char *from, const char *to, const char *hex) {
    uint8_t octets[MAX_TLV_SIZE];
    data_sm_t data = {.command_id = DATA_SM};
    ADDRESS(data, from, to);
    add_tlv(&data.tlv, TLVID_message_payload, octets, from_hex(hex, octets, sizeof octets));
    uint32_t status = ask(&data);
    destroy_tlv(data.tlv);
    printf("submitted %u %s\n", status, pdu.data_sm_resp.message_id);
}

/* Sends many without waiting; prints how many were accepted and how many were throttled. */
static void burst(int count, submit_sm_t request) {
    int accepted = 0, throttled = 0;
    for (int sent = 0; sent < count; sent++) {
        request.sequence_number = sequence++;
        send_pdu(gateway, &request);
    }
    for (int answered = 0; answered < count; answered++) {
        read_response();
        accepted += pdu.header.command_status == ESME_ROK;
        throttled += pdu.header.command_status == ESME_RTHROTTLED;
    }
    printf("burst %d %d\n", accepted, throttled);
}

static void execute(char **words) {
    const char *command = words[0];
    header_t bare = {.command_id = strcmp(command, "unbind") == 0 ? UNBIND : ENQUIRE_LINK};
    if (strcmp(command, "submit") == 0) {
        submit(message(words[1], words[2], words[3], atoi(words[4]), atoi(words[5])));
    } else if (strcmp(command, "part") == 0) submit_part(words);
    else if (strcmp(command, "data") == 0) send_data(words[1], words[2], words[3]);
    else if (strcmp(command, "burst") == 0) burst(atoi(words[1]), message(words[2], words[3], words[4], 0, 0));
    else if (strcmp(command, "enquire") == 0) printf("enquired %u\n", ask(&bare));
    else if (strcmp(command, "unbind") == 0) printf("unbound %u\n", ask(&bare));
}

int main(int count, char **args) {
    if (count != 5) return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(atoi(args[1])), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    gateway = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(gateway, (struct sockaddr *)&address, sizeof address) != 0) return 1;
    bind_as(args[4], args[2], args[3]);

    struct pollfd waiting[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = gateway, .events = POLLIN}};
    char line[MAX_LINE], *words[MAX_WORDS];
    while (poll(waiting, 2, -1) > 0) {
        if (waiting[1].revents != 0) {
            if (!read_pdu(gateway, &pdu)) gone();
            answer_request();
        } else if (waiting[0].revents != 0) {
            if (read_words(line, words) == 0) return 0;
            execute(words);
        }
    }
    return 0;
}
