/* The front's stubs for x86-64: two per slot, for its MPI_ and its PMPI_ names, and the
 * names that they are exported under.
 *
 * A stub for MPI_ names jumps through its entry of efg_slot_table and touches nothing else,
 * so that the target is entered as if the caller had called it. Initially the entry points
 * back into the stub, which asks efg_front_resolve for the target. */
#include "gen/slots.h"

#define STUB_SIZE 16

        .text
        .balign STUB_SIZE
        .globl  efg_stubs
        .hidden efg_stubs
efg_stubs:
        .set    i, 0
        .rept   EFG_NSLOTS
        .balign STUB_SIZE
        jmp     *(efg_slot_table + 8 * i)(%rip)
        pushq   $i
        jmp     resolve
        .set    i, i + 1
        .endr
        .set    i, 0
        .rept   EFG_NSLOTS
        .balign STUB_SIZE
        pushq   $(EFG_PMPI + i)
        jmp     pmpi
        .set    i, i + 1
        .endr

/* A call by a PMPI_ name; the slot is on the stack. If such calls are not recorded, it goes
 * to the target in efg_direct; inside a recorded call, to the MPI library; otherwise
 * efg_front_resolve decides. %r10 and %r11 are free: no MPI function has a static chain. */
        .type   pmpi, @function
pmpi:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        popq    %r11
        .cfi_def_cfa_offset 8
        leaq    efg_direct(%rip), %r10
        movq    -8 * EFG_PMPI(%r10,%r11,8), %r10
        testq   %r10, %r10
        jnz     1f
        pushq   %r11
        .cfi_def_cfa_offset 16
        movq    efg_guard(%rip), %r11
        testq   %r11, %r11
        jz      resolve
        cmpq    %fs:(%r11), %rsp
        jae     resolve
        popq    %r11
        .cfi_def_cfa_offset 8
        leaq    efg_real(%rip), %r10
        movq    (%r10,%r11,8), %r10
        testq   %r10, %r10
        jnz     1f
        pushq   %r11
        .cfi_def_cfa_offset 16
        jmp     resolve
1:
        .cfi_def_cfa_offset 8
        jmp     *%r10
        .cfi_endproc
        .size   pmpi, . - pmpi

/* In: the slot and the caller's return address on the stack; all registers that
 * may hold arguments are live (%al counts vector registers of variadic calls,
 * %r10 is the static chain). */
        .type   resolve, @function
resolve:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        pushq   %rbp
        .cfi_def_cfa_offset 24
        .cfi_offset %rbp, -24
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        subq    $192, %rsp
        andq    $-16, %rsp
        movaps  %xmm0, (%rsp)
        movaps  %xmm1, 16(%rsp)
        movaps  %xmm2, 32(%rsp)
        movaps  %xmm3, 48(%rsp)
        movaps  %xmm4, 64(%rsp)
        movaps  %xmm5, 80(%rsp)
        movaps  %xmm6, 96(%rsp)
        movaps  %xmm7, 112(%rsp)
        movq    %rdi, 128(%rsp)
        movq    %rsi, 136(%rsp)
        movq    %rdx, 144(%rsp)
        movq    %rcx, 152(%rsp)
        movq    %r8, 160(%rsp)
        movq    %r9, 168(%rsp)
        movq    %rax, 176(%rsp)
        movq    %r10, 184(%rsp)
        movq    8(%rbp), %rdi
        movq    16(%rbp), %rsi
        leaq    8(%rbp), %rdx
        call    efg_front_resolve
        movq    %rax, %r11
        movaps  (%rsp), %xmm0
        movaps  16(%rsp), %xmm1
        movaps  32(%rsp), %xmm2
        movaps  48(%rsp), %xmm3
        movaps  64(%rsp), %xmm4
        movaps  80(%rsp), %xmm5
        movaps  96(%rsp), %xmm6
        movaps  112(%rsp), %xmm7
        movq    128(%rsp), %rdi
        movq    136(%rsp), %rsi
        movq    144(%rsp), %rdx
        movq    152(%rsp), %rcx
        movq    160(%rsp), %r8
        movq    168(%rsp), %r9
        movq    176(%rsp), %rax
        movq    184(%rsp), %r10
        leave
        .cfi_def_cfa %rsp, 16
        addq    $8, %rsp
        .cfi_def_cfa_offset 8
        jmp     *%r11
        .cfi_endproc
        .size   resolve, . - resolve

/* The second half of stub 0. A stub's entry initially points to its second half. */
        .globl  efg_lazy
        .hidden efg_lazy
        .set    efg_lazy, efg_stubs + 6

        .section .data.rel.local, "aw"
        .balign 8
        .globl  efg_slot_table
        .hidden efg_slot_table
        .type   efg_slot_table, @object
        .size   efg_slot_table, 8 * EFG_NSLOTS
efg_slot_table:
        .set    i, 0
        .rept   EFG_NSLOTS
        .quad   efg_lazy + STUB_SIZE * i
        .set    i, i + 1
        .endr

#define EFG_SYMBOL(slot, symbol)                                \
        .globl  symbol;                                         \
        .type   symbol, @function;                              \
        .size   symbol, STUB_SIZE;                              \
        .set    symbol, efg_stubs + STUB_SIZE * (slot)
#include "gen/symbols.h"

        .section .note.GNU-stack, "", @progbits
