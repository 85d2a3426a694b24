"""Every feature gate that a kubelet may know beside those that `releases` tells of: a table.

docs/rules/kubelet-versions.md 2, docs/rules/kubelet-1.37.md 2. A row, up to a semicolon: name, steps, and after `>`
the gates that must be on where it is (checked from 1.35 on). A step is a stage (`a`lpha, `b`eta, `g`enerally
available, `d`eprecated; a capital letter: on by default) and the release that it came with; `*`: locked to the
default, `?`: locked or not, nobody here knows. `-1.36`: gone since; `?1.34`: from there on not certain.

From the project's list of features by release, its documentation's page on gates, and, for 1.36, recorded settings.
What such a gate was before 1.32 is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from numalign.kubelet.releases.release import STAGES, Gate, Version
from numalign.values import NamedTuple


class Row(NamedTuple):
    """A gate through the releases."""

    steps: tuple[tuple[Version, Gate | None], ...]
    """From which release on it is what, oldest first; None: there it is gone."""
    needs: tuple[str, ...]
    doubtful: tuple[Version, ...]
    """Releases with a step of which not all is certain."""

    def at(self, version: Version) -> Gate | None:
        """Return what the gate is in a release; None: it does not exist."""
        return next((gate for since, gate in reversed(self.steps) if since <= version), None)

    def is_doubtful(self, version: Version) -> bool:
        """Tell whether a release may know it otherwise than `at` says, or not at all."""
        now = next((since for since, _ in reversed(self.steps) if since <= version), None)
        return now in self.doubtful


@cache
def table() -> dict[str, Row]:
    """Read the table; few configurations ask for it."""
    rows = [row.split(maxsplit=1) for row in _TABLE.split(";") if row.strip()]
    return {name: _row(steps) for name, steps in rows}


def is_told_of(name: str) -> bool:
    """Tell quickly whether the table may have a gate, or one that needs it."""
    return name in _TABLE


def gone_in(name: str, version: Version) -> bool:
    """Tell whether a release that is not out yet will not know a gate, as far as is announced."""
    row = table().get(name)
    return name in _GOING.get(version, ()) or (row is not None and (version, None) in row.steps)


def _row(text: str) -> Row:
    steps, _, needs = text.partition(" > ")
    found: list[tuple[Version, Gate | None]] = []
    doubtful = []
    for step in steps.split():
        major, _, minor = step[1:].rstrip("*?").partition(".")
        version = (int(major), int(minor))
        stage = STAGES.get(step[0].lower())
        gate = Gate(default=step[0].isupper(), stage=stage, locked=step.endswith("*")) if stage else None
        if "?" in step:
            doubtful.append(version)
        found.append((version, gate))
    return Row(tuple(found), tuple(needs.split()), tuple(doubtful))


_GOING: Final[Mapping[Version, frozenset[str]]] = {(1, 38): frozenset({"DynamicResourceAllocation"})}
"""Gates of the releases that are announced to go."""

_TABLE: Final = """
AggregatedDiscoveryRemoveBetaType g1.0 D1.33 D1.35*; AllowDNSOnlyNodeCSR d1.31;
AllowInsecureKubeletCertificateSigningRequests d1.31; AllowOverwriteTerminationGracePeriodSeconds d1.32 d1.35*;
AllowParsingUserUIDFromCertAuth B1.33; AllowServiceExternalIPs D1.36; AllowServiceLBStatusOnNonLB d1.32* ?1.34 -1.36;
AllowUnsafeMalformedObjectDeletion a1.32 B1.37; AnonymousAuthConfigurableEndpoints B1.32 G1.34*;
AnyVolumeDataSource B1.24 G1.33*; APIResponseCompression B1.16; APIServerIdentity B1.26; APIServerTracing B1.27 G1.34*;
APIServerWebhookAuthenticationToken a1.37; APIServingWithRoutine a1.30; AtomicFIFO B1.36;
AtomicWriteVolumeUserFields ?1.36 a1.37; AuthorizeNodeWithSelectors B1.32 G1.34* > AuthorizeWithSelectors;
AuthorizePodWebsocketUpgradeCreatePermission B1.35; AuthorizeWithSelectors B1.32 G1.34*; BtreeWatchCache B1.32 G1.33*;
CBORServingAndStorage a1.32; ChangeContainerStatusOnKubeletRestart d1.35;
ClearingNominatedNodeNameAfterBinding a1.34 B1.35; ClientsAllowCBOR a1.32; ClientsPreferCBOR a1.32;
CloudControllerManagerWatchBasedRoutesReconciliation a1.35; CloudControllerManagerWebhook a1.27;
ClusterTrustBundle a1.27 b1.33 G1.37?; ClusterTrustBundleProjection a1.29 b1.33 G1.37? > ClusterTrustBundle;
ComponentFlagz a1.32 B1.36; ComponentSLIs G1.32* ?1.34 -1.36; ComponentStatusz a1.32 B1.36;
CompositePodGroup a1.37 > GenericWorkload TopologyAwareWorkloadScheduling; ConcurrentWatchObjectDecode b1.31 B1.37;
ConsistentListFromCache B1.31 G1.34*; ConstrainedImpersonation a1.35 B1.36; ContainerCheckpoint B1.30;
ContainerStopSignals a1.33; ContextualLogging B1.30 -1.36; ControllerManagerReleaseLeaderElectionLockOnExit a1.36;
CoordinatedLeaderElection a1.31 b1.33; CPUCFSQuotaPeriod ?1.32 -1.36; CRDObservedGenerationTracking b1.35;
CRDValidationRatcheting B1.30 G1.33*; CRIListStreaming a1.36; CronJobsScheduledAnnotation G1.32* ?1.34 -1.36;
CrossNamespaceVolumeDataSource a1.26; CSIMigrationPortworx B1.31 G1.33* -1.36;
CSIServiceAccountTokenSecrets B1.35 G1.36*; CSIVolumeHealth a1.21; CustomCPUCFSQuotaPeriod a1.12;
CustomResourceFieldSelectors G1.32*; DeclarativeValidation B1.33 G1.36*;
DeclarativeValidationBeta B1.36 > DeclarativeValidation;
DeclarativeValidationTakeover b1.33 d1.36 > DeclarativeValidation; DefaultPodSysctls a1.37;
DeploymentReplicaSetTerminatingReplicas a1.33 B1.35; DetectCacheInconsistency B1.34;
DevicePluginCDIDevices G1.31* ?1.34 -1.36;
DisableAllocatorDualWrite a1.31 b1.33 G1.34 G1.35* > MultiCIDRServiceAllocator;
DisableNodeKubeProxyVersion d1.31 D1.33 D1.36*; DRAAdminAccess a1.32 B1.34 G1.36* > DynamicResourceAllocation;
DRAConsumableCapacity a1.34 B1.36 > DynamicResourceAllocation; DRADerivedAttributes a1.37;
DRADeviceBindingConditions a1.34 B1.36 > DRAResourceClaimDeviceStatus DynamicResourceAllocation;
DRADeviceCompatibilityGroups a1.37; DRADeviceTaintRules a1.35 b1.36 G1.37 G1.38* > DRADeviceTaints;
DRADeviceTaints a1.33 B1.36 G1.37 G1.38* > DynamicResourceAllocation; DRAFractionalCapacityRange B1.37;
DRAListTypeAttributes a1.36 > DynamicResourceAllocation; DRANodeAllocatableResources a1.36 > DynamicResourceAllocation;
DRAOptionalNodeOperations a1.37; DRAPartitionableDevices a1.33 B1.36 > DynamicResourceAllocation;
DRAPartitionableDevicesType a1.37; DRAPrioritizedList a1.33 B1.34 G1.36 G1.37* > DynamicResourceAllocation;
DRAResourceClaimDeviceStatus a1.32 B1.33 G1.37*;
DRAResourceClaimGranularStatusAuthorization B1.36 > DRAResourceClaimDeviceStatus;
DRAResourcePoolStatus a1.36 > DynamicResourceAllocation; DRASchedulerFilterTimeout B1.34 > DynamicResourceAllocation;
DRAWorkloadResourceClaims a1.36 b1.37 > DynamicResourceAllocation GenericWorkload; EmptyDirVolumeMode a1.37;
EnableWorkloadWithJob ?1.36; EnvFiles a1.34 B1.35; EtcdRangeStream B1.37; EventedPLEG a1.26;
ExcludeAdmissionWebhookVirtualResources B1.37; ExecProbeTimeout G1.20 G1.35*;
ExtendWebSocketsToKubelet B1.36 > NodeDeclaredFeatures; ExternalServiceAccountTokenSigner a1.32 B1.34 G1.36*;
GangScheduling a1.35 -1.37 > GenericWorkload; GenericWorkload a1.35 b1.37; GitRepoVolumeDriver G1.0 d1.33 d1.36*;
GracefulNodeShutdown B1.21; GracefulNodeShutdownBasedOnPodPriority B1.24 > GracefulNodeShutdown;
GRPCContainerProbeTLS a1.37; H2CContainerProbe a1.37; HonorPVReclaimPolicy B1.31 G1.33*;
HostnameOverride a1.34 B1.35 G1.37?; HPAConfigurableTolerance a1.33 B1.35 G1.37?; HPAExternalMetricFallback ?1.36;
HPAScaleToZero a1.16 B1.37; HugepageAwareEviction B1.37; ImageMaximumGCAge B1.30 G1.35*;
ImageVolume a1.31 b1.33 B1.35 G1.36*; ImageVolumeWithDigest a1.35 > ImageVolume; InformerResourceVersion a1.30 G1.35;
InOrderInformers B1.33; InOrderInformersBatchProcess B1.35;
InPlacePodVerticalScalingAllocatedStatus a1.32 d1.33 > InPlacePodVerticalScaling;
InPlacePodVerticalScalingInitContainers B1.36 G1.37* > InPlacePodVerticalScaling NodeDeclaredFeatures;
InPlacePodVerticalScalingMemoryBackedVolumes a1.37 > InPlacePodVerticalScaling NodeDeclaredFeatures;
InPlacePodVerticalScalingSchedulerPreemption a1.37; InterPodAffinityHostnameFastPath a1.37;
InTreePluginPortworxUnregister a1.23 ?1.35 -1.36; JobBackoffLimitPerIndex B1.29 G1.33*; JobManagedBy B1.32 G1.35*;
JobPodReplacementPolicy B1.29 G1.34*; JobSuccessPolicy B1.31 G1.33*; KMSv1 d1.29;
KubeletAllocatedPodsEndpoint a1.37 > InPlacePodVerticalScaling; KubeletCgroupDriverFromCRI B1.31 G1.34*;
KubeletCrashLoopBackOffMax a1.32 B1.35; KubeletEnsureSecretPulledImages a1.33 B1.35;
KubeletFineGrainedAuthz a1.32 B1.33 G1.36*; KubeletInUserNamespace a1.22 B1.37;
KubeletPodResourcesDynamicResources a1.27 B1.34 G1.36*; KubeletPodResourcesGet a1.27 B1.34 G1.36*;
KubeletPodResourcesListUseActivePods D1.34; KubeletPSI a1.33 B1.34 G1.36*; KubeletRegistrationGetOnExistsOnly d1.32;
KubeletSeparateDiskGC B1.31; KubeletServiceAccountTokenForCredentialProviders a1.33 B1.34;
KubeletTracing B1.27 G1.34* -1.38; KubeProxyIPVS D1.37; KubeProxyNFTablesLocalhostNodePorts a1.37;
LegacySidecarContainers ?1.32 -1.36; ListFromCacheSnapshot a1.33 B1.34; LoadBalancerIPMode G1.32* ?1.34 -1.36;
LocalStorageCapacityIsolationFSQuotaMonitoring b1.31; LogarithmicScaleDown G1.31*; LoggingAlphaOptions a1.24 -1.36;
LoggingBetaOptions B1.24 -1.36; ManifestBasedAdmissionControlConfig a1.36 B1.37;
MatchLabelKeysInPodAffinity B1.31 G1.33* -1.38; MatchLabelKeysInPodTopologySpread B1.27;
MatchLabelKeysInPodTopologySpreadSelectorMerge B1.34 > MatchLabelKeysInPodTopologySpread;
MaxUnavailableStatefulSet a1.24 B1.35 b1.36 B1.37; MemoryQoS a1.22 B1.37; MultiCIDRServiceAllocator b1.31 G1.33 G1.34*;
MutableCSINodeAllocatableCount a1.33 b1.34 B1.35 G1.36*; MutablePodResourcesForSuspendedJobs a1.35 B1.36;
MutablePVNodeAffinity a1.35; MutableSchedulingDirectivesForSuspendedJobs a1.35 B1.36;
MutatingAdmissionPolicy a1.32 b1.34 G1.36?; NativeHistograms a1.36 B1.37; NFTablesProxyMode B1.31 G1.33*;
NodeInclusionPolicyInPodTopologySpread B1.26 G1.33*; NodeLifecycleConditions a1.37; NodeLogQuery b1.30 G1.36*;
NodeSwap B1.30 G1.34*; NominatedNodeNameForExpectation a1.34 B1.35; OpenAPIEnums B1.24; OpportunisticBatching B1.35;
OrderedNamespaceDeletion b1.30 B1.33 G1.34*; PersistentVolumeClaimUnusedSinceTime a1.36 B1.37;
PLEGOnDemandRelist B1.36; PodAndContainerStatsFromCRI a1.23 b1.37;
PodCertificateRequest a1.34 b1.35 G1.37? > AuthorizeNodeWithSelectors; PodDeletionCost B1.22;
PodGroupPreemptionPolicy a1.37; PodIndexLabel G1.32* ?1.34 -1.36; PodLifecycleSleepAction B1.30 G1.34*;
PodLifecycleSleepActionAllowZero a1.32 B1.33 G1.34* > PodLifecycleSleepAction; PodLogsQuerySplitStreams a1.32;
PodObservedGenerationTracking a1.33 B1.34 G1.35*; PodReadyToStartContainersCondition B1.29 G1.37?; PodsAPI a1.36 B1.37;
PodSchedulingReadiness G1.30* -1.38; PodTopologyLabelsAdmission a1.33 B1.35; PortForwardWebsockets B1.31;
PreferSameTrafficDistribution a1.33 B1.34 G1.35*; PreventStaticPodAPIReferences B1.34;
ProcMountType b1.31 B1.33 G1.36* > UserNamespacesSupport; QOSReserved a1.11;
RecoverVolumeExpansionFailure B1.32 G1.34*; RecursiveReadOnlyMounts B1.31 G1.33*;
ReduceDefaultCrashLoopBackOffDecay a1.33; RelaxedDNSSearchValidation a1.32 B1.33 G1.34*;
RelaxedEnvironmentVariableValidation B1.32 G1.34*; RelaxedServiceNameValidation a1.34 B1.36 G1.37?;
ReloadKubeletServerCertificateFile B1.31; RemoteRequestHeaderUID a1.32 B1.33;
ResilientWatchCacheInitialization B1.31 G1.34*; ResourceHealthStatusMessage B1.36 > ResourceHealthStatus;
RestartAllContainersOnContainerExits a1.35 B1.36 > ContainerRestartRules NodeDeclaredFeatures;
RetryGenerateName G1.32*; RotateKubeletServerCertificate B1.12; RuntimeClassInImageCriApi a1.29;
RuntimeClassInImageCRIAPI ?1.32 -1.36; SchedulerAsyncAPICalls b1.34; SchedulerAsyncPreemption a1.32 B1.33;
SchedulerPopFromBackoffQ B1.33; SchedulerPreQueueingHints a1.37; SchedulerQueueingHints B1.32 G1.34*;
SELinuxChangePolicy a1.32 B1.33 G1.36*; SELinuxMount a1.30 b1.33 G1.37?; SELinuxMountReadWriteOncePod B1.28 G1.36*;
SeparateCacheWatchRPC B1.28 d1.33 d1.36*; SeparateTaintEvictionController B1.29 G1.34* -1.38;
ServiceAccountNodeAudienceRestriction b1.32 B1.33; ServiceAccountTokenJTI G1.32*;
ServiceAccountTokenNodeBinding B1.31 G1.33* > ServiceAccountTokenNodeBindingValidation;
ServiceAccountTokenNodeBindingValidation G1.32*; ServiceAccountTokenPodNodeInfo G1.32*;
ServiceCIDRStatusFieldWiping D1.36; ServiceTrafficDistribution B1.31 G1.33* ?1.35 -1.36; ShardedListAndWatch a1.36;
SizeBasedListCostEstimate B1.34; SizeMemoryBackedVolumes G1.32* ?1.34 -1.36; StaleControllerConsistencyDaemonSet B1.36;
StaleControllerConsistencyJob B1.36; StaleControllerConsistencyReplicaSet B1.36;
StaleControllerConsistencyStatefulSet B1.36; StatefulSetAutoDeletePVC G1.32* ?1.34 -1.36;
StatefulSetRecreateStrategy a1.37; StatefulSetSemanticRevisionComparison B1.0; StorageCapacityScoring a1.33 B1.37;
StorageNamespaceIndex B1.30 D1.33; StorageVersionAPI a1.20 > APIServerIdentity; StorageVersionHash B1.15;
StorageVersionMigrator a1.30 b1.35; StreamingCollectionEncodingToJSON B1.33 G1.34*;
StreamingCollectionEncodingToProtobuf B1.33 G1.34*; StrictCostEnforcementForVAP G1.32* ?1.34 -1.36;
StrictCostEnforcementForWebhooks G1.32* ?1.34 -1.36; StrictIPCIDRValidation a1.33 B1.36;
StructuredAuthenticationConfiguration B1.30 G1.34*;
StructuredAuthenticationConfigurationEgressSelector B1.34 > StructuredAuthenticationConfiguration;
StructuredAuthenticationConfigurationJWKSMetrics B1.35 > StructuredAuthenticationConfiguration;
StructuredAuthorizationConfiguration G1.32* ?1.34 -1.36; SupplementalGroupsPolicy a1.31 B1.33 G1.35*;
SystemdWatchdog B1.32 G1.35*; TaintTolerationComparisonOperators a1.35; TokenRequestServiceAccountUIDValidation B1.34;
TopologyAwareHints B1.24 G1.33* ?1.35 -1.36; TopologyAwareWorkloadScheduling a1.36 > GenericWorkload;
TranslateStreamCloseWebsocketRequests B1.30; UnauthenticatedHTTP2DOSMitigation B1.29;
UnknownVersionInteroperabilityProxy a1.28 B1.36 > APIServerIdentity; UnlockWhileProcessingFIFO B1.36;
UserNamespacesHostNetworkSupport a1.35 > UserNamespacesSupport; UserNamespacesPodSecurityStandards a1.29 ?1.34 -1.36;
UserNamespacesSupport b1.30 B1.33 G1.36*; VolumeAttributesClass b1.31 G1.34 G1.36*; VolumeBindMountOptions a1.37;
VolumeLimitScaling a1.35 B1.37; WatchCacheInitializationPostStartHook b1.31 B1.36 G1.37?;
WatchFromStorageWithoutResourceVersion b1.30 d1.33 ?1.35 -1.36; WatchList B1.32 b1.33 B1.34;
WatchListClient b1.30 B1.35; WindowsCPUAndMemoryAffinity a1.32;
WindowsGracefulNodeShutdown a1.32 B1.34 > GracefulNodeShutdown; WindowsHostNetwork a1.26 d1.33 -1.38;
WinDSR a1.14 B1.33 G1.34*; WinOverlay B1.20 G1.34*; WorkloadAwarePreemption a1.36 -1.37 > GangScheduling;
WorkloadWithJob a1.36;
"""
